// Copies the public files of a release to this machine, each checked against what the log commits to.
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import pMap from 'p-map'
import { z } from 'zod'
import type { ManifestFile, ReleaseManifest } from '../../schemas/manifests.ts'
import { snapshotManifest } from '../../schemas/manifests.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Statement } from '../../schemas/statement.ts'
import { PUBLIC_DATA } from '../../schemas/values.ts'
import { canonical, decoded, sha256Hex } from '../proof/canonical.ts'
import { readManifest, snapshotDate } from '../release/read.ts'
import type { FileStore } from '../store/file.ts'
import { manifestPath, releasePrefix, snapshotManifestPath, snapshotPrefix } from '../store/paths.ts'
import { recordAt } from '../store/records.ts'
import { statementOf } from '../transparency/statement.ts'
import type { Findings } from './findings.ts'
import type { Expected, ServedData } from './served-data.ts'

const READS_AT_ONCE = 4
const said = z.object({ public_data: z.enum(PUBLIC_DATA) })
/** Some 300,000 corrections. */
const MANIFEST_BYTES = 64 * 1024 * 1024

/** A store on this machine, with objects of the served one under their own paths. */
export class Mirror {
  readonly #served: ServedData
  readonly #findings: Findings
  readonly store: FileStore

  constructor(served: ServedData, store: FileStore, findings: Findings) {
    this.#served = served
    this.store = store
    this.#findings = findings
  }

  /** Returns the manifest that the log has; undefined if another one is served, which is a fault. */
  async manifest(logged: Statement): Promise<ReleaseManifest | undefined> {
    const path = manifestPath(logged.release)
    const isThere = await this.#record(path, logged.manifest_sha256, MANIFEST_BYTES)
    const manifest = isThere ? await this.#findings.read(readManifest(this.store, logged.release)) : undefined
    if (!manifest || Buffer.compare(statementOf(manifest), canonical(logged)) === 0) return manifest
    this.#findings.fault(path, `does not say what entry ${logged.release - 1} of the log says`)
    return undefined
  }

  /**
   * Whether the server says that it lets out no public tables, so that none needs to be asked for: each would
   * be a failed call, of which an address has few. It may be believed, since it could leave them out as well.
   */
  async withholdsTables(): Promise<boolean> {
    try {
      const bytes = await this.#served.get('index.json', MANIFEST_BYTES)
      return bytes !== undefined && said.parse(JSON.parse(decoded(bytes))).public_data !== 'tables'
    } catch {
      return false
    }
  }

  /**
   * Copies files of a release. Returns those that nothing is served of, which is no fault yet.
   *
   * @throws ServiceError `unavailable` if there is no room for them.
   */
  async copy<File extends Expected & { path: string }>(
    release: (file: File) => number,
    files: readonly File[],
  ): Promise<File[]> {
    await this.#assertRoom(files)
    const isThere = await pMap(files, (file) => this.#file(releasePrefix(release(file)) + file.path, file), {
      concurrency: READS_AT_ONCE,
    })
    return files.filter((_, index) => !isThere[index])
  }

  /** Copies the snapshot that a release brings. */
  async snapshot({ as_of, snapshot_sha256: sha256 }: ReleaseManifest): Promise<void> {
    if (!sha256) return
    const date = snapshotDate(as_of)
    const path = snapshotManifestPath(date)
    if (!(await this.#record(path, sha256, MANIFEST_BYTES))) return
    const snapshot = await this.#findings.read(recordAt(this.store, path, snapshotManifest).get())
    await this.#assertRoom(snapshot?.files ?? [])
    const copy = async (file: ManifestFile) => {
      const copied = snapshotPrefix(date) + file.path
      if (!(await this.#file(copied, file))) this.missing(copied, file)
    }
    await pMap(snapshot?.files ?? [], copy, { concurrency: READS_AT_ONCE })
  }

  /** Sizes are what the operator says, who may say anything. */
  async #assertRoom(files: readonly Expected[]): Promise<void> {
    const bytes = files.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
    const folder = dirname(this.store.localPath('x'))
    const { bavail, bsize } = await statfs(folder)
    if (bytes <= bavail * bsize) return
    throw new ServiceError(
      'unavailable',
      `the files have ${bytes} bytes, and ${folder} has room for ${bavail * bsize}; set TMPDIR to a folder with more`,
    )
  }

  missing(path: string, { size_bytes, sha256 }: Expected): void {
    this.#findings.fault(
      path,
      `is missing: the manifest names ${size_bytes} bytes with the SHA-256 ${sha256}`,
    )
  }

  /** Copies a record whose size is not known beforehand. */
  async #record(path: string, sha256: string, mostBytes: number): Promise<boolean> {
    const bytes = await this.#served.get(path, mostBytes)
    const found = bytes && sha256Hex(bytes)
    if (bytes && found === sha256) {
      await this.store.put(path, bytes)
      return true
    }
    const what = bytes ? `found ${bytes.byteLength} bytes with ${found}` : 'nothing is there'
    this.#findings.fault(path, `is not what was logged: expected the SHA-256 ${sha256}, ${what}`)
    return false
  }

  /** Returns false if nothing is there; other bytes are a fault. */
  async #file(path: string, file: Expected): Promise<boolean> {
    try {
      return await this.#served.download(path, this.store.localPath(path), file)
    } catch (error) {
      if (!(error instanceof ServiceError && error.kind === 'corrupt')) throw error
      await this.#findings.read(Promise.reject(error))
      return true
    }
  }
}
