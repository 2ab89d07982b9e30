// The files that anyone may read: those that the manifest of a release or of a snapshot names, and the public
// log. Each has the path that it has in the store.
import type { Store } from '../../pipeline/store/store.ts'
import { canonical, sha256Hex } from '../../pipeline/proof/canonical.ts'
import { missingFile } from '../../pipeline/release/read.ts'
import {
  isPublished,
  logCheckpointPath,
  logCheckpointSize,
  manifestPath,
  releaseOfFolder,
  releasePrefix,
  snapshotManifestPath,
  snapshotPrefix,
} from '../../pipeline/store/paths.ts'
import type { DataIndex } from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { PublicTableFile, ReleaseManifest } from '../../schemas/manifests.ts'
import type { PublicDataSetting } from '../../schemas/values.ts'
import type { History } from './history.ts'
import type { PublicLog } from './public-log.ts'
import type { ReleaseFiles } from './release-files.ts'
import type { Release } from './release-payloads.ts'
import type { RenderedAnswers } from './rendered.ts'
import { ShardCache } from './shard-cache.ts'

/** Some tens of manifests. */
const CACHE_BYTES = 16 * 1024 * 1024
/** A slow reader holds two pieces. */
const PIECE_BYTES = 256 * 1024

/** A file as it is sent. It is in memory, or in the store under `stored`. */
export interface PublicFile {
  sizeBytes: number
  sha256: string
  /**
   * Whether its path names the same bytes for good. Retention deletes the files of releases, but for
   * manifests.
   */
  isForGood: boolean
  bytes?: Uint8Array
  stored?: { release?: number; path: string }
}

type Named = Pick<PublicTableFile, 'release' | 'path' | 'size_bytes' | 'sha256'>

interface PublicDataComponents {
  store: Store
  files: Pick<ReleaseFiles, 'at'>
  publicLog: Pick<PublicLog, 'head' | 'tile'>
  history: Pick<History, 'dates' | 'manifest'>
  rendered: RenderedAnswers
  what: PublicDataSetting
}

export class PublicData {
  readonly #components: PublicDataComponents
  /** Manifests in the bytes of the store. */
  readonly #records = new ShardCache<PublicFile>(CACHE_BYTES)

  constructor(components: PublicDataComponents) {
    this.#components = components
  }

  /** Returns the index of the files of a release; undefined if nobody may read any. */
  async index(release: Release): Promise<Uint8Array | undefined> {
    const { history, publicLog, rendered, what } = this.#components
    const { manifest } = release
    const record = what !== 'none' && manifest && (await this.#record(manifestPath(manifest.release)))
    if (!record) return undefined
    const log_size = publicLog.head?.size ?? 0
    const render = () => {
      const { release: number, as_of } = manifest
      const { sizeBytes: size_bytes, sha256 } = record
      const files = [
        { path: manifestPath(number), size_bytes, sha256 },
        ...this.#publicIn(manifest).map((file) => ({
          path: releasePrefix(file.release) + file.path,
          size_bytes: file.size_bytes,
          sha256: file.sha256,
        })),
      ]
      const snapshots = [...history.dates]
      const index: DataIndex = { public_data: what, release: number, as_of, files, snapshots, log_size }
      return canonical(index)
    }
    return rendered.get(release, '/data/index.json', { state: `${history.dates.length} ${log_size}`, render })
  }

  /** Returns the file under a path below `/data/`; undefined if there is none that anyone may read. */
  async find(path: string, current: ReleaseManifest | undefined): Promise<PublicFile | undefined> {
    const { what } = this.#components
    if (what === 'none' || !current) return undefined
    const [root, name = '', ...rest] = path.split('/')
    const file = rest.join('/')
    switch (root) {
      case 'releases':
        return name === 'current'
          ? this.#ofRelease(current.release, file, true)
          : this.#ofEarlier(name, file, current.release)
      case 'snapshots':
        return this.#ofSnapshot(name, file)
      case 'log':
        return this.#ofLog(path)
      default:
        return undefined
    }
  }

  /**
   * Yields the bytes of a file from `start` up to `end`. The reader checks them by the hash of the whole.
   *
   * @throws ServiceError `notFound` if retention has deleted it, `corrupt` if it is lost or too short.
   */
  async *read({ bytes, stored }: PublicFile, start: number, end: number): AsyncIterable<Uint8Array> {
    if (bytes) yield bytes.subarray(start, end)
    if (!stored) return
    const { store } = this.#components
    const { release, path } = stored
    for (let at = start; at < end; at += PIECE_BYTES) {
      const length = Math.min(PIECE_BYTES, end - at)
      const piece = await store.range(path, at, length)
      if (piece?.byteLength === length) yield piece
      else if (piece || release === undefined)
        throw new ServiceError('corrupt', `${path} is cut off at byte ${at}`)
      else throw await missingFile(store, release, { path: path.slice(releasePrefix(release).length) })
    }
  }

  #ofEarlier(name: string, file: string, current: number): Promise<PublicFile | undefined> | undefined {
    const release = releaseOfFolder(name)
    return release === undefined || release < 1 || release > current
      ? undefined
      : this.#ofRelease(release, file, false)
  }

  async #ofRelease(release: number, file: string, isCurrent: boolean): Promise<PublicFile | undefined> {
    if (file === 'manifest.json') {
      const found = await this.#record(manifestPath(release))
      return found && { ...found, isForGood: !isCurrent }
    }
    const manifest = await this.#components.files.at(release)
    const entry = this.#publicIn(manifest).find(
      // A file that an earlier release wrote has its own path there.
      (one) => one.path === file && (one.release === release || isCurrent),
    )
    if (!entry) return undefined
    const { size_bytes: sizeBytes, sha256 } = entry
    const stored = { release: entry.release, path: releasePrefix(entry.release) + entry.path }
    return { sizeBytes, sha256, isForGood: false, stored }
  }

  /** Returns the files that a manifest names and anyone may read, each with the release that wrote it. */
  #publicIn({ release, files, public: tables }: ReleaseManifest): Named[] {
    const own = files.filter(({ path }) => isPublished(path)).map((file) => ({ release, ...file }))
    return this.#components.what === 'tables' ? [...own, ...tables] : own
  }

  async #ofSnapshot(date: string, file: string): Promise<PublicFile | undefined> {
    const manifest = await this.#components.history.manifest(date)
    if (!manifest) return undefined
    if (file === 'manifest.json') return this.#record(snapshotManifestPath(manifest.date))
    const entry = manifest.files.find(({ path }) => path === file)
    if (!entry) return undefined
    const { size_bytes: sizeBytes, sha256, path } = entry
    return { sizeBytes, sha256, isForGood: true, stored: { path: snapshotPrefix(manifest.date) + path } }
  }

  async #ofLog(path: string): Promise<PublicFile | undefined> {
    const { publicLog } = this.#components
    const size = logCheckpointSize(path)
    if (size !== undefined) {
      return size >= 1 && size <= (publicLog.head?.size ?? 0)
        ? this.#record(logCheckpointPath(size))
        : undefined
    }
    const bytes = await publicLog.tile(path.slice('log/'.length))
    return bytes && inMemory(bytes, true)
  }

  /** Returns a small object that never changes. */
  async #record(path: string): Promise<PublicFile | undefined> {
    const known = this.#records.atHand(path)
    if (known) return known
    const bytes = await this.#components.store.get(path)
    if (!bytes) return undefined
    return this.#records.get(path, () =>
      Promise.resolve({ value: inMemory(bytes, true), sizeBytes: bytes.byteLength }),
    )
  }
}

function inMemory(bytes: Uint8Array, isForGood: boolean): PublicFile {
  return { sizeBytes: bytes.byteLength, sha256: sha256Hex(bytes), isForGood, bytes }
}
