// Copies the public objects of a release from a served address to a store on this machine, of which the
// checks then read as any other. It checks no hash but those of manifests: the checks do.
import { mkdir, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import pMap from 'p-map'
import { z } from 'zod'
import { type ReleaseManifest, snapshotManifest } from '../../schemas/manifests.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Statement } from '../../schemas/statement.ts'
import { PUBLIC_DATA } from '../../schemas/values.ts'
import { canonical, decoded, sha256Hex } from '../proof/canonical.ts'
import { snapshotDate } from '../release/read.ts'
import type { FileStore } from '../store/file.ts'
import type { HttpStore } from '../store/http.ts'
import { copyToFile } from '../store/object-content.ts'
import { manifestPath, snapshotManifestPath, snapshotPrefix } from '../store/paths.ts'
import { recordAt } from '../store/records.ts'
import { readLoggedManifest, statementOf } from '../transparency/statement.ts'
import type { Findings } from './findings.ts'
import type { AuditReport } from './report.ts'

const COPIES_AT_ONCE = 4

const dataIndex = z.object({ public_data: z.enum(PUBLIC_DATA) })

/** An object of a store, and how long it must be. */
interface Named {
  path: string
  size_bytes: number
}

/** A release whose public objects are on this machine, and what is found of it. */
export interface Checked {
  served: HttpStore
  copy: PublicCopy
  findings: Findings
  report: AuditReport
  manifest: ReleaseManifest
}

export class PublicCopy {
  readonly #served: HttpStore
  readonly #findings: Findings
  readonly store: FileStore

  constructor(served: HttpStore, store: FileStore, findings: Findings) {
    this.#served = served
    this.store = store
    this.#findings = findings
  }

  /** Returns the manifest that the log has; undefined if another one is served, which is a fault. */
  async manifest(logged: Statement): Promise<ReleaseManifest | undefined> {
    const path = manifestPath(logged.release)
    const bytes = await this.#served.get(path)
    const found = bytes && sha256Hex(bytes)
    if (!bytes || found !== logged.manifest_sha256) {
      const what = bytes ? `found ${bytes.byteLength} bytes with ${found}` : 'nothing is there'
      const expected = `expected the SHA-256 ${logged.manifest_sha256}`
      this.#findings.fault(path, `is not what was logged: ${expected}, ${what}`)
      return undefined
    }
    await this.store.put(path, bytes)
    const manifest = await this.#findings.read(readLoggedManifest(this.store, logged.release))
    if (!manifest || Buffer.compare(statementOf(manifest), canonical(logged)) === 0) return manifest
    this.#findings.fault(path, `does not say what entry ${logged.release - 1} of the log says`)
    return undefined
  }

  /**
   * Copies what is served of these objects, and of a longer one a byte more. Returns how many there are.
   *
   * @throws ServiceError `unavailable` if there is no room for them: sizes are what the operator says.
   */
  async objects(named: readonly Named[]): Promise<number> {
    await this.#assertRoom(named)
    const copied = await pMap(
      named,
      async ({ path, size_bytes }) => {
        const location = this.store.localPath(path)
        await mkdir(dirname(location), { recursive: true })
        if (await copyToFile(this.#served, path, location, size_bytes)) return true
        await this.store.delete(path)
        return false
      },
      { concurrency: COPIES_AT_ONCE },
    )
    return copied.filter(Boolean).length
  }

  /**
   * Whether public tables can be asked for: false if the server says that it lets out none, since each would
   * be a failed call, of which an address has few. It may be believed, since it could leave them out as well.
   */
  async hasTables(): Promise<boolean> {
    try {
      const bytes = await this.#served.get('index.json')
      return bytes === undefined || dataIndex.parse(JSON.parse(decoded(bytes))).public_data === 'tables'
    } catch {
      return true
    }
  }

  /** Copies the snapshot that a release brings. */
  async snapshot({ as_of, snapshot_sha256: sha256 }: ReleaseManifest): Promise<void> {
    if (!sha256) return
    const date = snapshotDate(as_of)
    const path = snapshotManifestPath(date)
    const bytes = await this.#served.get(path)
    if (bytes) await this.store.put(path, bytes)
    if (!bytes || sha256Hex(bytes) !== sha256) return
    const snapshot = await this.#findings.read(recordAt(this.store, path, snapshotManifest).get())
    const prefix = snapshotPrefix(date)
    await this.objects((snapshot?.files ?? []).map((file) => ({ ...file, path: prefix + file.path })))
  }

  async #assertRoom(named: readonly Named[]): Promise<void> {
    const bytes = named.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
    const folder = dirname(this.store.localPath('x'))
    const { bavail, bsize } = await statfs(folder)
    if (bytes <= bavail * bsize) return
    throw new ServiceError(
      'unavailable',
      `the files have ${bytes} bytes, and ${folder} has room for ${bavail * bsize}; set TMPDIR to a folder with more`,
    )
  }
}
