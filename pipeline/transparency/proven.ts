// Checks that a service shows the same as its public log has: a record by its proof, and a manifest by the
// entry of its release.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { decoded, encoded } from '../proof/canonical.ts'
import type { SignedCheckpoint } from '../proof/checkpoint.ts'
import { leafHash } from '../proof/merkle.ts'
import { verifyInclusion } from '../proof/merkle-proof.ts'
import { inclusionFromTiles } from '../proof/tiles.ts'
import { parseTlogProof } from '../proof/tlog-proof.ts'
import type { Statement } from '../../schemas/statement.ts'
import { parseStatement, verifyProof } from '../proof/verify.ts'
import { MANIFEST_BYTES } from '../store/http.ts'
import { continuationOf } from './continuation.ts'
import { type RemoteLog, signedCheckpoint } from './remote-log.ts'
import { statementOf } from './statement.ts'

/** The text of a record, and of its proof. */
export interface ShownRecord {
  record: string
  proof: string
}

/** A manifest of any version, which the parser leaves as it is, because its hash was logged. */
const corrected = z.looseObject({
  corrections: z.array(
    z.looseObject({
      question_id: z.string(),
      column: z.string(),
      from: z.string().nullable(),
      to: z.string().nullable(),
      reason: z.string().nullable(),
      pairs: z.number(),
    }),
  ),
  public: z.array(
    z.looseObject({ path: z.string(), release: z.int(), size_bytes: z.int(), sha256: z.string() }),
  ),
  quarantined: z.array(z.looseObject({ key: z.string(), forecast_ids: z.array(z.string()).optional() })),
})
type ProvenManifest = z.infer<typeof corrected>
export type ProvenCorrection = ProvenManifest['corrections'][number]

/**
 * Checks a record by its proof, and returns the later of `head` and the checkpoint of the proof.
 *
 * @throws ServiceError `invalid` for a proof that does not hold, and as `continuationOf` for checkpoints of
 *   two histories.
 */
export async function provenRecord(
  log: RemoteLog,
  head: SignedCheckpoint,
  { record, proof }: ShownRecord,
): Promise<SignedCheckpoint> {
  verifyProof(encoded(record), proof, { keys: log.keys, witnesses: [], leastCosignatures: 0 })
  const other = signedCheckpoint(encoded(parseTlogProof(proof).checkpoint), 'the proof', log.keys)
  const [earlier, later] = head.checkpoint.size < other.checkpoint.size ? [head, other] : [other, head]
  await continuationOf(earlier.checkpoint, later.checkpoint, log.readTile)
  return later
}

/**
 * Returns the manifest of a release that the log of `head` has, with its statement.
 *
 * @throws ServiceError `corrupt` for another manifest than was logged, and `unavailable` while the service
 *   does not show it.
 */
export async function provenManifest(
  { url, get, readTile }: RemoteLog,
  { checkpoint }: SignedCheckpoint,
  release: number,
): Promise<{ manifest: ProvenManifest; statement: Statement }> {
  const place = `${url}/releases/${release}`
  const bytes = await get(`releases/${release}`, MANIFEST_BYTES)
  if (!bytes) throw new ServiceError('unavailable', `${place} does not show the release that is logged`)
  const hashes = await inclusionFromTiles(release - 1, checkpoint.size, readTile)
  try {
    const { thinned_at: _, ...manifest } = corrected.parse(JSON.parse(decoded(bytes)))
    const statement = statementOf(manifest as unknown as ReleaseManifest)
    verifyInclusion(leafHash(statement), release - 1, hashes, checkpoint)
    return { manifest, statement: parseStatement(statement) }
  } catch (cause) {
    const reason = cause instanceof ServiceError ? cause.message : 'it is no manifest'
    throw new ServiceError('corrupt', `${place} is not what was logged: ${reason}`, { cause })
  }
}
