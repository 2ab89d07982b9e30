// Reads releases: the current one, its files, and the daily history.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import {
  type ManifestFile,
  type QuarantinedObject,
  type ReleaseManifest,
  type SnapshotManifest,
  releaseManifest,
  snapshotManifest,
} from '../../schemas/manifests.ts'
import type { PieceOfFile, ReleaseShard, SnapshotShard } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { instant } from '../../schemas/values.ts'
import {
  SNAPSHOTS_PREFIX,
  manifestPath,
  releasePrefix,
  shardStart,
  snapshotDateOf,
  snapshotManifestPath,
  snapshotPrefix,
  thinnedPath,
} from '../store/paths.ts'
import { sha256Hex } from '../proof/canonical.ts'
import { recordAt } from '../store/records.ts'
import { lastNumbered } from '../store/numbered.ts'
import type { Store } from '../store/store.ts'
import { orUnreadable } from '../tables/quarantine.ts'

/** Returns the number of the current release, the greatest with a manifest; 0 if there is none. */
export function currentRelease(store: Store, known = 0): Promise<number> {
  return lastNumbered(store, manifestPath, known)
}

export function readManifest(store: Store, release: number): Promise<ReleaseManifest | undefined> {
  return recordAt(store, manifestPath(release), releaseManifest).get()
}

const thinnedRecord = z.strictObject({ thinned_at: instant })

/** Returns when retention began to delete the files of a release; undefined if it has not. */
export async function thinnedAt(store: Store, release: number): Promise<string | undefined> {
  return (await recordAt(store, thinnedPath(release), thinnedRecord).get())?.thinned_at
}

export function isThinned(store: Store, release: number): Promise<boolean> {
  return exists(store, thinnedPath(release))
}

export async function noteThinned(store: Store, release: number, now: Date): Promise<void> {
  await recordAt(store, thinnedPath(release), thinnedRecord).create({ thinned_at: now.toISOString() })
}

/** @throws ServiceError `corrupt` for a damaged one, with the way out. */
export function readSnapshotManifest(store: Store, date: string): Promise<SnapshotManifest | undefined> {
  const path = snapshotManifestPath(date)
  return orUnreadable(path, recordAt(store, path, snapshotManifest).get())
}

/** Returns the day of a release in UTC. The first release of a day brings its snapshot. */
export function snapshotDate(asOf: string): string {
  return asOf.slice(0, 10)
}

export function hasSnapshot(store: Store, date: string): Promise<boolean> {
  return exists(store, snapshotManifestPath(date))
}

async function exists(store: Store, path: string): Promise<boolean> {
  return (await store.range(path, 0, 1)) !== undefined
}

/** Returns the days after `after` that have a snapshot, in order. */
export async function snapshotDates(store: Store, after = ''): Promise<string[]> {
  const dates: string[] = []
  const start = after === '' ? '' : snapshotManifestPath(after)
  for await (const { path } of store.list(SNAPSHOTS_PREFIX, start)) {
    const date = snapshotDateOf(path)
    if (date !== undefined) dates.push(date)
  }
  return dates
}

/** Returns the days whose snapshot manifests were moved aside. */
export function datesInQuarantine(quarantined: readonly QuarantinedObject[]): string[] {
  return quarantined.map(({ key }) => snapshotDateOf(key)).filter((date) => date !== undefined)
}

interface Shard {
  file: ManifestFile
  /** The first entity in it. */
  start: string
}

/**
 * The shards of each kind in the files of a manifest. They are listed at the first search for an entity,
 * because a call may search for hundreds.
 */
const shardsByStart = new WeakMap<readonly ManifestFile[], Record<EntityType, Shard[]>>()

/**
 * Returns the file that would hold an entity: the last shard of its kind that starts at or before it. A
 * manifest names shards in order of their first entities, so a binary search finds it.
 */
export function shardFile(
  files: readonly ManifestFile[],
  entityType: EntityType,
  entityId: string,
): ManifestFile | undefined {
  let ofKinds = shardsByStart.get(files)
  if (!ofKinds) {
    ofKinds = { agent: shardsIn(files, 'agent'), forecaster: shardsIn(files, 'forecaster') }
    shardsByStart.set(files, ofKinds)
  }
  const shards = ofKinds[entityType]
  let [low, high] = [0, shards.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (shards[middle]!.start <= entityId) low = middle + 1
    else high = middle
  }
  return shards[low - 1]?.file
}

/** Returns the shards of a kind of entity in the order of their tree; none without a manifest. */
export function shardsOf(
  manifest: Pick<ReleaseManifest, 'files'> | undefined,
  entityType: EntityType,
): ManifestFile[] {
  return manifest?.files.filter(({ path }) => shardStart(path, entityType) !== undefined) ?? []
}

function shardsIn(files: readonly ManifestFile[], entityType: EntityType): Shard[] {
  return files.flatMap((file) => {
    const start = shardStart(file.path, entityType)
    return start === undefined ? [] : [{ file, start }]
  })
}

/** @throws ServiceError as `readReleaseFile` does. */
export function readReleaseShard(store: Store, release: number, file: ManifestFile): Promise<ReleaseShard> {
  return readReleaseFile<ReleaseShard>(store, release, file)
}

/**
 * Reads a JSON file of a release, whose shape was checked at its publication.
 *
 * @throws ServiceError `notFound` if retention has deleted it, `corrupt` if it is lost or damaged.
 */
export async function readReleaseFile<File extends object>(
  store: Store,
  release: number,
  file: ManifestFile,
): Promise<File> {
  return parsed<File>(await readReleaseBytes(store, release, file))
}

/**
 * Reads the bytes of a file of a release.
 *
 * @throws ServiceError as `readReleaseFile` does.
 */
export async function readReleaseBytes(
  store: Store,
  release: number,
  file: ManifestFile,
): Promise<Uint8Array> {
  const bytes = await readChecked(store, releasePrefix(release), file)
  if (bytes) return bytes
  throw await missingFile(store, release, file)
}

/**
 * Reads consecutive pieces of a file of a release, from `offset` on, in one request.
 *
 * @throws ServiceError as `readReleaseFile` does.
 */
export async function readReleasePieces(
  store: Store,
  release: number,
  file: ManifestFile,
  offset: number,
  pieces: readonly PieceOfFile[],
): Promise<Uint8Array> {
  const path = releasePrefix(release) + file.path
  const length = pieces.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  let fault = ''
  for (let read = 0; read < READS; read++) {
    const bytes = await store.range(path, offset, length)
    if (!bytes) throw await missingFile(store, release, file)
    const damaged = damagedPiece(bytes, pieces)
    if (damaged === undefined) return bytes
    fault = damaged
  }
  throw new ServiceError('corrupt', `${path}, read from byte ${offset} on: ${fault}`)
}

/** Describes the first piece whose bytes do not have its hash; returns undefined if all are right. */
function damagedPiece(bytes: Uint8Array, pieces: readonly PieceOfFile[]): string | undefined {
  let start = 0
  for (const { size_bytes, sha256 } of pieces) {
    const piece = bytes.subarray(start, start + size_bytes)
    const found = sha256Hex(piece)
    if (found !== sha256) {
      return `the ${size_bytes} bytes at ${start} must have the SHA-256 ${sha256}; the store has ${piece.byteLength} with ${found}`
    }
    start += size_bytes
  }
  return undefined
}

/** Returns the error for a file that the store lacks. */
export async function missingFile(
  store: Store,
  release: number,
  file: Pick<ManifestFile, 'path'>,
): Promise<ServiceError> {
  const at = await thinnedAt(store, release)
  return at === undefined ? lost(releasePrefix(release), file) : thinned(release, at)
}

/** Returns the error for files about entities that retention has deleted. */
export function thinned(release: number, at: string): ServiceError {
  return new ServiceError(
    'notFound',
    `release ${release} was thinned at ${at}: what it published about entities was deleted; ask for the current release, ` +
      'or for the daily snapshots, which are kept',
    { type: 'release-thinned' },
  )
}

export async function readSnapshotShard(
  store: Store,
  date: string,
  file: ManifestFile,
): Promise<SnapshotShard> {
  const bytes = await readChecked(store, snapshotPrefix(date), file)
  if (bytes) return parsed<SnapshotShard>(bytes)
  throw lost(snapshotPrefix(date), file)
}

function lost(prefix: string, { path }: Pick<ManifestFile, 'path'>): ServiceError {
  return new ServiceError('corrupt', `${prefix}${path} is in its manifest and not in the store`)
}

/** The transfer may damage one read. If two reads are damaged, the object is. */
const READS = 2

/** Parses a JSON file, whose shape was checked at its publication. */
function parsed<T>(bytes: Uint8Array): T {
  return JSON.parse(new TextDecoder().decode(bytes)) as T
}

/** Reads a file. It must have the hash in the manifest. Returns undefined if it is gone. */
async function readChecked(
  store: Store,
  prefix: string,
  file: ManifestFile,
): Promise<Uint8Array | undefined> {
  const path = prefix + file.path
  let bytes: Uint8Array | undefined
  for (let read = 0; read < READS; read++) {
    bytes = await store.get(path)
    if (bytes && sha256Hex(bytes) === file.sha256) return bytes
  }
  if (!bytes) return undefined
  throw new ServiceError(
    'corrupt',
    `${path} must have ${file.size_bytes} bytes with the SHA-256 ${file.sha256}, as its manifest says; ` +
      `the store has ${bytes.byteLength} bytes with the SHA-256 ${sha256Hex(bytes)}`,
  )
}
