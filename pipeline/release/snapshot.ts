// Copies the day's rank of every entity out of the shards of the release that brings the snapshot. A copy
// needs neither the method nor the secret, so any version of the service can complete a snapshot that a crash
// left out, to the same bytes.
import pMap from 'p-map'
import { ServiceError } from '../../schemas/errors.ts'
import type { QuarantinedObject, ReleaseManifest, SnapshotManifest } from '../../schemas/manifests.ts'
import {
  datesInQuarantine,
  hasSnapshot,
  readManifest,
  readReleaseBytes,
  readSnapshotManifest,
  readSnapshotShard,
  snapshotDate,
} from './read.ts'
import { lastWhere } from './last-where.ts'
import { type OutputFile, entryOf } from './output.ts'
import { snapshotFile } from './snapshot-file.ts'
import { type ReleaseContext, type ReleaseState, readPlan } from './state.ts'
import { sha256Hex } from '../proof/canonical.ts'
import { isShardPath, snapshotManifestPath, snapshotPrefix } from '../store/paths.ts'
import { recordBytes } from '../store/records.ts'
import { READS_AT_ONCE, type Store, putExactly } from '../store/store.ts'

/**
 * Completes the snapshots that are missing: of the current release's day after a crash, and those whose
 * manifests were moved aside. Must be done before the next release is begun.
 *
 * @throws ServiceError `corrupt` for a damaged manifest of the current release's day.
 */
export async function completeSnapshots(
  { store, log }: Pick<ReleaseContext, 'store' | 'log'>,
  { number, manifest: current }: ReleaseState,
  quarantined: readonly QuarantinedObject[],
): Promise<void> {
  const last = current && snapshotDate(current.as_of)
  const aside = new Set(datesInQuarantine(quarantined))
  for (const date of new Set([...aside, ...(last === undefined ? [] : [last])])) {
    if (date === last ? await readSnapshotManifest(store, date) : await hasSnapshot(store, date)) continue
    const fail = (reason: string) => log('the snapshot cannot be completed', { date, reason })
    try {
      const manifest = await bringerOf(store, date, number)
      if (!manifest) continue
      log('completing the snapshot of a day', { release: manifest.release, date })
      await copySnapshot(store, manifest)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      // Retention deletes shards only once the snapshot is complete, so another run completed it, or its
      // manifest is lost.
      const isThinned = error.kind === 'notFound'
      // A snapshot that was moved aside must not stop the releases after it.
      if (!isThinned && !(error.kind === 'corrupt' && aside.has(date))) throw error
      if (!(await hasSnapshot(store, date))) fail(error.message)
    }
  }
}

/**
 * Completes the snapshot of a release, if it brings one. Call it before the release's shards are deleted.
 *
 * @throws ServiceError `corrupt` for a copy with other bytes than it should have.
 */
export async function secureSnapshot(store: Store, manifest: ReleaseManifest): Promise<void> {
  const { release, as_of } = manifest
  const plan = await readPlan(store, release)
  if (!plan) throw new ServiceError('corrupt', `release ${release} has lost its plan`)
  if (plan.brings_snapshot && !(await isWhole(store, snapshotDate(as_of))))
    await copySnapshot(store, manifest)
}

/** @throws ServiceError `corrupt` for a damaged copy. */
async function isWhole(store: Store, date: string): Promise<boolean> {
  const snapshot = await readSnapshotManifest(store, date)
  if (!snapshot) return false
  const listed = new Set<string>()
  for await (const { path } of store.list(snapshotPrefix(date))) listed.add(path)
  if (!snapshot.files.every(({ path }) => listed.has(snapshotPrefix(date) + path))) return false
  await pMap(snapshot.files, (file) => readSnapshotShard(store, date, file), { concurrency: READS_AT_ONCE })
  return true
}

/**
 * Finds the release that brings the snapshot of a day. `as_of` never goes back, so the releases of a day have
 * consecutive numbers.
 */
async function bringerOf(store: Store, date: string, last: number): Promise<ReleaseManifest | undefined> {
  const dayOf = async (release: number) => snapshotDate((await manifestOf(store, release)).as_of)
  const before = await lastWhere(last, async (release) => (await dayOf(release)) < date)
  for (let release = before + 1; release <= last && (await dayOf(release)) === date; release++) {
    if ((await readPlan(store, release))?.brings_snapshot) return manifestOf(store, release)
  }
  return undefined
}

async function manifestOf(store: Store, release: number): Promise<ReleaseManifest> {
  const manifest = await readManifest(store, release)
  if (manifest) return manifest
  throw new ServiceError('corrupt', `release ${release} has lost its manifest`)
}

/** Copies the snapshot that a release brings, its manifest last. */
export async function copySnapshot(store: Store, manifest: ReleaseManifest): Promise<void> {
  const date = snapshotDate(manifest.as_of)
  const files: SnapshotManifest['files'] = []
  for (const file of manifest.files.filter(({ path }) => isShardPath(path))) {
    const bytes = await readReleaseBytes(store, manifest.release, file)
    const copy = snapshotFile({ path: file.path, bytes }, date)
    if (!copy) {
      throw new ServiceError('corrupt', `release ${manifest.release} has no snapshot in ${file.path}`)
    }
    await putExactly(store, snapshotPrefix(date) + copy.path, copy.bytes)
    files.push(entryOf(copy))
  }
  await putExactly(
    store,
    snapshotManifestPath(date),
    manifestBytes({ date, release: manifest.release, files }),
  )
}

/** Gathers the files of a snapshot from the shards of the release that brings it, while these are made. */
export class SnapshotFiles {
  readonly #date: string
  readonly #files: SnapshotManifest['files'] = []

  constructor(date: string) {
    this.#date = date
  }

  take(file: OutputFile): void {
    const copy = snapshotFile(file, this.#date)
    if (copy) this.add(entryOf(copy))
  }

  add(file: SnapshotManifest['files'][number]): void {
    this.#files.push(file)
  }

  /** Returns the SHA-256 of the snapshot's manifest, as `copySnapshot` writes it. */
  sha256(release: number): string {
    return sha256Hex(manifestBytes({ date: this.#date, release, files: this.#files }))
  }
}

/** A snapshot's manifest as it is stored. */
export function manifestBytes(manifest: SnapshotManifest): Uint8Array {
  return recordBytes(snapshotManifestPath(manifest.date), manifest)
}
