// Makes the public log (docs/data.md, Public log): an entry for each release after its manifest, a signed
// checkpoint after each entry, and cosignatures of the last.
import { ServiceError } from '../../schemas/errors.ts'
import { base64Of } from '../proof/base64.ts'
import { encoded } from '../proof/canonical.ts'
import { type Checkpoint, signedCheckpoint } from '../proof/checkpoint.ts'
import { GrowingTree, HASH_BYTES, type Hash, leafHash } from '../proof/merkle.ts'
import type { Note } from '../proof/note.ts'
import type { SigningKey, VerifierKey } from '../proof/note-keys.ts'
import { heldSignatures } from '../proof/note-signatures.ts'
import { TILE_WIDTH, bundlePath, rootFromTiles, tilePath, tilesOfAppend } from '../proof/tiles.ts'
import { logCheckpointPath, logCosignaturesPrefix, logTilePath, manifestPath } from '../store/paths.ts'
import { type Store, putExactly } from '../store/store.ts'
import { bundleWith, lastCheckpoint, readCheckpoint, tileReader } from './log-files.ts'
import { readStatement } from './statement.ts'
import { type WitnessContext, askWitnesses } from './witnesses.ts'

export interface LogContext extends WitnessContext {
  /**
   * The log's keys, in the order in which they sign; empty if there is no log. All have the same name, which
   * is the log's origin.
   */
  signers: readonly SigningKey[]
}

/**
 * Logs every release up to the current one that has no entry yet. The manifests decide what it writes, so a
 * run that was cut off, or any number of runs at once, write the same.
 *
 * @throws ServiceError `conflict` if the log's origin is not that of the keys; `corrupt` if the stored log is
 *   not what was logged: then it signs nothing.
 */
export async function completeLog(context: LogContext, current: number): Promise<void> {
  const { store, signers, log } = context
  if (signers.length === 0) return
  let last: number
  try {
    last = await lastCheckpoint(store)
    if (last > 0) await assertWhole(context, last)
    for (let release = last + 1; release <= current; release++) {
      await append(context, release)
      last = release
      log('logged a release', { release })
    }
  } catch (cause) {
    if (!(cause instanceof ServiceError && cause.kind === 'corrupt')) throw cause
    throw corrupt(`the log cannot be continued, and nothing was signed: ${cause.message}`, cause)
  }
  if (last > 0) await completeCosignatures(context, last)
}

/**
 * Asks witnesses to cosign the last checkpoint if it has no cosignature: the run may have been cut off before
 * it asked. If it has any, it asks no one again, so a witness that did not cosign then stays missing until
 * the next checkpoint.
 */
async function completeCosignatures(context: LogContext, size: number): Promise<void> {
  const { store, witnesses, log } = context
  if (witnesses.length === 0) return
  try {
    for await (const { sizeBytes } of store.list(logCosignaturesPrefix(size))) if (sizeBytes > 0) return
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    log('no witness was asked', { size, reason })
    return
  }
  await askWitnesses(context, size)
}

/** @throws ServiceError `conflict` if the log of the checkpoint is not that of the keys. */
export function assertOwnLog({ origin, size }: Checkpoint, signers: readonly SigningKey[]): void {
  if (signers.length === 0 || origin === originOf(signers)) return
  throw new ServiceError(
    'conflict',
    `${logCheckpointPath(size)} is of the log ${origin}, not of ${originOf(signers)}: set the key of that log, or move log/ aside`,
  )
}

/**
 * Checks, before a run writes anything, that the log is that of the keys. It leaves a damaged log to
 * `completeLog`.
 *
 * @throws ServiceError `conflict` if the log's origin is not that of the keys.
 */
export async function assertOrigin({ store, signers }: Pick<LogContext, 'store' | 'signers'>): Promise<void> {
  const size = signers.length === 0 ? 0 : await lastCheckpoint(store)
  if (size === 0) return
  try {
    assertOwnLog((await readCheckpoint(store, size)).checkpoint, signers)
  } catch (error) {
    if (!(error instanceof ServiceError && error.kind === 'corrupt')) throw error
  }
}

/** Checks the last checkpoint against the tiles and the last release, and its signature against our keys. */
async function assertWhole(context: LogContext, size: number): Promise<void> {
  const { store, signers, log } = context
  const { checkpoint, note } = await readCheckpoint(store, size)
  const path = logCheckpointPath(size)
  assertOwnLog(checkpoint, signers)
  if (checkpoint.size !== size) throw corrupt(`${path} is a checkpoint of ${checkpoint.size} entries`)
  const root = await rootFromTiles(size, tileReader(store))
  if (Buffer.compare(root, checkpoint.root) !== 0) {
    throw corrupt(`${path} has the root ${base64Of(checkpoint.root)}, and its tiles have ${base64Of(root)}`)
  }
  await assertLogged(store, size)
  const keys = signers.map(({ verifier }) => verifier)
  if (await held(path, note, keys)) return
  // The key that signed it was replaced at once, because it had leaked. So the root is derived again before
  // the log continues.
  const derived = await derivedRoot(store, size)
  if (Buffer.compare(derived, root) !== 0) {
    throw corrupt(
      `${path} is signed by no key that is set, and the releases give the root ${base64Of(derived)}`,
    )
  }
  log('the last checkpoint is signed by no key that is set; its entries are those of the releases', { path })
}

/** Checks that the last entry is of the release that the store has, since nobody could prove another one. */
async function assertLogged(store: Store, size: number): Promise<void> {
  const tile = { level: 0, index: Math.ceil(size / TILE_WIDTH) - 1, width: ((size - 1) % TILE_WIDTH) + 1 }
  const logged = (await tileReader(store)(tile)).subarray(-HASH_BYTES)
  if (Buffer.compare(leafHash(await readStatement(store, size)), logged) === 0) return
  throw corrupt(
    `${manifestPath(size)} is of another release than entry ${size - 1} of the log: copy the one that was logged back from a backup`,
  )
}

async function held(path: string, note: Note, keys: readonly VerifierKey[]): Promise<boolean> {
  try {
    return (await heldSignatures(note, keys)).length > 0
  } catch (cause) {
    throw corrupt(`${path}: ${(cause as Error).message}`, cause)
  }
}

async function derivedRoot(store: Store, size: number): Promise<Hash> {
  const tree = new GrowingTree()
  for (let release = 1; release <= size; release++) tree.add(leafHash(await readStatement(store, release)))
  return tree.root
}

/** Adds the entry of a release: tiles and bundle, and last the checkpoint, which is the commit. */
async function append({ store, signers }: LogContext, release: number): Promise<void> {
  const entry = await readStatement(store, release)
  const read = tileReader(store)
  const tiles = await tilesOfAppend(leafHash(entry), release - 1, read)
  const bundle = await bundleWith(store, entry, release - 1)
  for (const { tile, bytes } of tiles) await putExactly(store, logTilePath(tilePath(tile)), bytes)
  await putExactly(store, bundle.path, bundle.bytes)
  const root = await rootFromTiles(release, read)
  const checkpoint: Checkpoint = { origin: originOf(signers), size: release, root }
  const path = logCheckpointPath(release)
  if (!(await store.putIfAbsent(path, encoded(signedCheckpoint(checkpoint, signers))))) {
    const rival = (await readCheckpoint(store, release)).checkpoint
    if (
      rival.origin !== checkpoint.origin ||
      rival.size !== release ||
      Buffer.compare(rival.root, root) !== 0
    ) {
      throw corrupt(`${path} is there with another root, ${base64Of(rival.root)}`)
    }
  }
  for (const { tile } of tiles) {
    if (tile.width < TILE_WIDTH) continue
    const partial = [tilePath(tile), ...(tile.level === 0 ? [bundlePath(tile)] : [])]
    for (const full of partial) await deletePartial(store, logTilePath(full))
  }
}

/** Deletes the partial forms of a full tile or bundle. A reader of one falls back to the full one. */
async function deletePartial(store: Store, full: string): Promise<void> {
  const paths: string[] = []
  for await (const { path } of store.list(`${full}.p/`)) paths.push(path)
  for (const path of paths) await store.delete(path)
}

function originOf(signers: readonly SigningKey[]): string {
  return signers[0]!.verifier.name
}

function corrupt(what: string, cause?: unknown): ServiceError {
  return new ServiceError('corrupt', what, { cause })
}
