// Replaces the signatures in a release's JSON files, so that an audit can compare the payloads alone.
import { z } from 'zod'
import { canonical, sha256Hex } from '../proof/canonical.ts'
import { type SigningSecrets, signatureOf } from '../proof/hmac.ts'

const publication = z.looseObject({ payload: z.looseObject({}), signature: z.string().nullable() })
type Publication = z.infer<typeof publication>

/**
 * Matches a shard of a release or of a snapshot of any method, even with publications and payloads that this
 * version does not know. A snapshot has one publication for each entity, a release several by their kinds,
 * and a file of owners one for each owner.
 */
const anyShard = z.union([
  z.looseObject({
    entities: z.record(z.string(), z.union([publication, z.record(z.string(), publication)])),
  }),
  z.looseObject({ owners: z.array(publication) }),
])

/**
 * Sets each signature to the result of `sign` for the publication and its name. Returns undefined for bytes
 * that are not a shard in canonical JSON.
 */
export function resigned(
  bytes: Uint8Array,
  sign: (publication: Publication, name: string) => string | null,
): Uint8Array | undefined {
  let shard: z.infer<typeof anyShard>
  try {
    shard = anyShard.parse(JSON.parse(new TextDecoder().decode(bytes)))
  } catch {
    return undefined
  }
  if (Buffer.compare(canonical(shard), bytes) !== 0) return undefined
  if ('owners' in shard) {
    for (const one of shard.owners as Publication[])
      one.signature = sign(one, `owner ${JSON.stringify(one.payload['owner_id'])}`)
    return canonical(shard)
  }
  for (const [entityId, published] of Object.entries(shard.entities)) {
    const all = isPublication(published) ? { snapshot: published } : published
    for (const [kind, one] of Object.entries(all)) one.signature = sign(one, `${kind} of ${entityId}`)
  }
  return canonical(shard)
}

function isPublication(published: Publication | Record<string, Publication>): published is Publication {
  return typeof published['signature'] === 'string' || published['signature'] === null
}

/**
 * Returns a text that distinguishes the signing secrets of releases without revealing them; null if signing
 * is off.
 */
export function fingerprintOf(secrets: SigningSecrets | undefined): string | null {
  return secrets ? sha256Hex(signatureOf(canonical('which secret signs'), secrets)).slice(0, 16) : null
}

/** Returns the signature of a payload; null if signing is off. */
export type SignPayload = (payload: object) => string | null

/**
 * Returns a function that signs payloads as the release with this fingerprint did; undefined if none of the
 * secrets gives the fingerprint.
 */
export function signerOf(
  fingerprint: string | null | undefined,
  secrets: readonly string[],
): SignPayload | undefined {
  if (fingerprint === null) return () => null
  const pairs = secrets.flatMap((current) => [
    { current },
    ...secrets.filter((other) => other !== current).map((previous) => ({ current, previous })),
  ])
  const found = pairs.find((pair) => fingerprintOf(pair) === fingerprint)
  return found && ((payload) => signatureOf(canonical(payload), found))
}
