// The public log of a service, and what the service shows beside it, for readers who do not trust it: they
// believe what leads to a checkpoint that a key of theirs has signed.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { Statement } from '../../schemas/statement.ts'
import { canonical, decoded, encoded } from '../proof/canonical.ts'
import { type SignedCheckpoint, parseCheckpoint } from '../proof/checkpoint.ts'
import { leafHash } from '../proof/merkle.ts'
import { verifyInclusion } from '../proof/merkle-proof.ts'
import { type VerifierKey, parseVerifierKey } from '../proof/note-keys.ts'
import { heldSignatures } from '../proof/note-signatures.ts'
import { quoted } from '../proof/quoted.ts'
import { type ReadTile, TILE_WIDTH, bundlePath, inclusionFromTiles } from '../proof/tiles.ts'
import { parseTlogProof } from '../proof/tlog-proof.ts'
import { parseStatement, verifyProof } from '../proof/verify.ts'
import { HttpStore, MANIFEST_BYTES } from '../store/http.ts'
import { continuationOf } from './continuation.ts'
import { readBundle, tilesOnce } from './log-files.ts'
import { statementOf } from './statement.ts'

/** A look asks for hundreds of answers, and a server could drip each of them. */
const LOOK_MS = 15 * 60_000

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
type ServedManifest = z.infer<typeof corrected>
export type ServedCorrection = ServedManifest['corrections'][number]

export class LogReader {
  /** The service, which has the files of its log at the paths of its store. */
  readonly service: HttpStore
  /** The keys of the log that the reader knows, at least one. */
  readonly keys: readonly VerifierKey[]
  /** Reads each tile once. */
  readonly readTile: ReadTile
  readonly #bundles = new Map<string, Promise<Uint8Array[]>>()

  /**
   * @param headers of every request.
   * @throws ServiceError `invalid` for wrong keys, and for what is no address of a service.
   */
  constructor(address: string, vkeys: readonly string[], headers: Record<string, string> = {}) {
    this.keys = logKeys(vkeys)
    this.service = new HttpStore(address, { headers, withinMs: LOOK_MS })
    this.readTile = tilesOnce(this.service)
  }

  /** The address of the service, without a slash at its end. */
  get url(): string {
    return this.service.url
  }

  /** @throws ServiceError `unavailable` if there is none, and as `signedCheckpoint`. */
  async lastCheckpoint(): Promise<SignedCheckpoint> {
    const bytes = await this.service.ask('log/checkpoint')
    if (bytes) return signedCheckpoint(bytes, `${this.url}/log/checkpoint`, this.keys)
    throw new ServiceError('unavailable', `${this.url} has no public log, or one without an entry`)
  }

  /**
   * Checks a record by its proof, and returns the later of `head` and the checkpoint of the proof.
   *
   * @throws ServiceError `invalid` for a proof that does not hold, and as `continuationOf` for checkpoints of
   *   two histories.
   */
  async assertRecord(head: SignedCheckpoint, { record, proof }: ShownRecord): Promise<SignedCheckpoint> {
    await verifyProof(encoded(record), proof, { keys: this.keys, witnesses: [], leastCosignatures: 0 })
    const other = await signedCheckpoint(encoded(parseTlogProof(proof).checkpoint), 'the proof', this.keys)
    const [earlier, later] = head.checkpoint.size < other.checkpoint.size ? [head, other] : [other, head]
    await continuationOf(earlier.checkpoint, later.checkpoint, this.readTile)
    return later
  }

  /**
   * Returns the statement of a release that the log of `head` has.
   *
   * @throws ServiceError `invalid` for a release that it does not have, and for an entry that does not lead
   *   to the checkpoint.
   */
  async statement({ checkpoint }: SignedCheckpoint, release: number): Promise<Statement> {
    const { size } = checkpoint
    if (release > size)
      throw new ServiceError('invalid', `the log has ${size} entries, and none of release ${release}`)
    const entry = await this.#entry(release - 1, size)
    const hashes = await inclusionFromTiles(release - 1, size, this.readTile)
    verifyInclusion(leafHash(entry), release - 1, hashes, checkpoint)
    return parseStatement(entry)
  }

  /**
   * Returns the manifest of a release that the log of `head` has, as `GET /releases/{release}` shows it.
   *
   * @throws ServiceError `corrupt` for another manifest than was logged, and `unavailable` while the service
   *   does not show it.
   */
  async manifest(head: SignedCheckpoint, release: number): Promise<ServedManifest> {
    const place = `${this.url}/releases/${release}`
    const logged = await this.statement(head, release)
    const bytes = await this.service.ask(`releases/${release}`, MANIFEST_BYTES)
    if (!bytes) throw new ServiceError('unavailable', `${place} does not show the release that is logged`)
    let reason = `expected the SHA-256 ${logged.manifest_sha256}`
    try {
      const { thinned_at: _, ...manifest } = corrected.parse(JSON.parse(decoded(bytes)))
      const statement = statementOf(manifest as unknown as ReleaseManifest)
      if (Buffer.compare(statement, canonical(logged)) === 0) return manifest
    } catch {
      reason = 'it is no manifest'
    }
    throw new ServiceError('corrupt', `${place} is not what was logged: ${reason}`)
  }

  /** Returns an entry of the log at this size. The first entry is 0. */
  async #entry(entry: number, size: number): Promise<Uint8Array> {
    const index = Math.floor(entry / TILE_WIDTH)
    const bundle = { index, width: Math.min(TILE_WIDTH, size - index * TILE_WIDTH) }
    const path = bundlePath(bundle)
    const read = this.#bundles.get(path) ?? readBundle(this.service, bundle)
    this.#bundles.set(path, read)
    return (await read)[entry % TILE_WIDTH]!
  }
}

/** @throws ServiceError `invalid` for a note of another log, and for one that no known key has signed. */
export async function signedCheckpoint(
  bytes: Uint8Array,
  place: string,
  keys: readonly VerifierKey[],
): Promise<SignedCheckpoint> {
  try {
    const signed = parseCheckpoint(decoded(bytes))
    const { origin, size } = signed.checkpoint
    const { name } = keys[0]!
    if (origin !== name)
      throw new ServiceError(
        'invalid',
        `this is the log ${quoted(origin)}, not ${quoted(name)}: give the key of the one that you mean, or its address`,
      )
    if (size === 0) throw new ServiceError('invalid', 'a checkpoint without entries shows nothing')
    if ((await heldSignatures(signed.note, keys)).length > 0) return signed
    throw new ServiceError(
      'invalid',
      'no key that was given has signed it: has its operator replaced the key?',
    )
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause
    throw new ServiceError('invalid', `${place}: ${cause.message}`, { cause })
  }
}

/** @throws ServiceError `invalid` for what are no keys of one log. */
export function logKeys(vkeys: readonly string[]): VerifierKey[] {
  const keys = vkeys.map(parseVerifierKey)
  if (keys.some(({ use }) => use !== 'log')) {
    throw new ServiceError('invalid', 'a --vkey is that of a witness; give the key of the log')
  }
  if (new Set(keys.map(({ name }) => name)).size === 1) return keys
  throw new ServiceError('invalid', 'the keys of one log have one name, and those given have several')
}
