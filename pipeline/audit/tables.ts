// Checks the data files of the tables against the list of new ones in each logged release, and reads each
// file once.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import type { InputFile, ReleaseManifest } from '../../schemas/manifests.ts'
import { SCORED_TABLES, type ScoredTable } from '../../schemas/tables.ts'
import type { PipelineComponents } from '../components.ts'
import { literal } from '../duckdb.ts'
import { canonicalText } from '../proof/canonical.ts'
import { type Before, inputsOf, newFiles } from '../release/trees.ts'
import { deltaLogPath, manifestPath, tablePath } from '../store/paths.ts'
import { readChecked } from '../store/store.ts'
import { localPath } from '../tables/delta-log.ts'
import { type DataFile, type TableVersion, filesOf } from '../tables/delta.ts'
import { without } from '../tables/left-out.ts'
import type { Findings } from './findings.ts'

/** `local` has no copies that this machine made before, because the audit checks the store. */
export type TablesContext = Pick<PipelineComponents, 'store' | 'database' | 'directory' | 'local'> & {
  findings: Findings
}

const footers = z.array(z.object({ rows: z.bigint() })).length(1)

export class TableChecks {
  readonly #context: TablesContext
  readonly #logs: Record<ScoredTable, CommitLog>

  constructor(context: TablesContext) {
    this.#context = context
    const logs = SCORED_TABLES.map((table) => [table, new CommitLog(context, table)] as const)
    this.#logs = Object.fromEntries(logs) as Record<ScoredTable, CommitLog>
  }

  /**
   * Returns the tables that a release was made from, and reads their commits up to there. Returns undefined,
   * and adds a fault, if a commit cannot be read.
   */
  async versionsOf(manifest: ReleaseManifest): Promise<Record<ScoredTable, TableVersion> | undefined> {
    const versions: [ScoredTable, TableVersion][] = []
    for (const table of SCORED_TABLES) {
      const version = await this.#logs[table].upTo(manifest.tables[table] ?? -1)
      if (version) versions.push([table, without(version, manifest)])
    }
    if (versions.length < SCORED_TABLES.length) return undefined
    return Object.fromEntries(versions) as Record<ScoredTable, TableVersion>
  }

  /**
   * Checks the data files that are new in a release, and their entries in its manifest. Returns false if one
   * is damaged.
   */
  async check(
    manifest: ReleaseManifest,
    versions: Record<ScoredTable, TableVersion>,
    before: Before,
  ): Promise<boolean> {
    const { findings, local } = this.#context
    checkInputs(findings, manifest, inputsOf(versions, before))
    let isWhole = true
    for (const table of SCORED_TABLES) {
      for (const file of newFiles(versions[table], before)) {
        findings.counts.data_files_checked += 1
        const path = await findings.read(localPath(local, table, file))
        if (path === undefined) isWhole = false
        else await this.#checkRows(manifest, table, file, path)
        // The files of forecasts are read again for their tree.
        if (table !== 'forecasts') await local.forget(tablePath(table, file.path))
      }
    }
    return isWhole
  }

  /** Compares the number of rows that the log binds with that of the file itself. */
  async #checkRows(
    { inputs, release }: ReleaseManifest,
    table: ScoredTable,
    { path }: DataFile,
    localFile: string,
  ): Promise<void> {
    const { database, findings } = this.#context
    const logged = inputs?.find((input) => input.table === table && input.path === path)
    const sql = `SELECT num_rows AS rows FROM parquet_file_metadata(${literal(localFile)})`
    const [footer] = footers.parse(await database.rows(sql))
    if (logged && BigInt(logged.rows) !== footer!.rows) {
      findings.fault(
        tablePath(table, path),
        `release ${release} has logged ${logged.rows} rows, found ${footer!.rows}`,
      )
    }
  }
}

/** Adds a fault for each data file that a manifest and the commits of the tables describe differently. */
function checkInputs(
  findings: Findings,
  { release, inputs }: ReleaseManifest,
  expected: readonly InputFile[],
): void {
  if (!inputs || canonicalText(inputs) === canonicalText(expected)) return
  const textOf = ({ rows, size_bytes, sha256 }: InputFile) =>
    `${rows} rows, ${size_bytes} bytes, the SHA-256 ${sha256}`
  const byPath = (files: readonly InputFile[]) =>
    new Map(files.map((file) => [tablePath(file.table as ScoredTable, file.path), textOf(file)]))
  const [logged, derived] = [byPath(inputs), byPath(expected)]
  const paths = new Set([...logged.keys(), ...derived.keys()])
  const different = [...paths].filter((path) => logged.get(path) !== derived.get(path))
  for (const path of different) {
    const texts = [logged, derived].map((files) => files.get(path) ?? 'nothing')
    findings.fault(
      path,
      `release ${release} has logged ${texts[0]}; the commits of the table say ${texts[1]}`,
    )
  }
  if (different.length === 0) {
    findings.fault(
      manifestPath(release),
      'its inputs are in another order than the commits of the tables, or named twice',
    )
  }
}

/**
 * Reads the commits of a table from the first on, each once. It does not use the checkpoints of the table.
 */
class CommitLog {
  readonly #context: TablesContext
  readonly #table: ScoredTable
  readonly #files: DataFile[] = []
  #version = -1
  #isDamaged = false

  constructor(context: TablesContext, table: ScoredTable) {
    this.#context = context
    this.#table = table
  }

  /** Callers must ask for versions in ascending order. */
  async upTo(version: number): Promise<TableVersion | undefined> {
    while (!this.#isDamaged && this.#version < version) {
      const files = await this.#context.findings.read(this.#commit(this.#version + 1))
      if (files) {
        this.#files.push(...files)
        this.#version += 1
      } else this.#isDamaged = true
    }
    if (this.#isDamaged) return undefined
    return { table: this.#table, version, files: this.#files.slice() }
  }

  async #commit(version: number): Promise<DataFile[]> {
    const path = deltaLogPath(this.#table, version)
    const read = (commit: Uint8Array) => filesOf(commit, this.#table, version)
    const files = await readChecked(this.#context.store, path, read)
    if (files) return files
    throw new ServiceError('corrupt', `${path}: is missing, though a release was made from it`)
  }
}
