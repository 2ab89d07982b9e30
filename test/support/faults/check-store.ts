// Verifies a whole store from outside, after each step of a test: everything that was acknowledged is in the
// tables once, every release passes its audit, and no byte that must never change has changed since any
// earlier check.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pMap from 'p-map'
import { type Database, parquet, withDatabase } from '../../../pipeline/duckdb.ts'
import { canonical, sha256Hex } from '../../../pipeline/proof/canonical.ts'
import { auditRelease } from '../../../pipeline/audit/release.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { SECRET, testComponents } from '../http/service.ts'
import { READS_AT_ONCE } from '../../../pipeline/store/store.ts'

/** What the service has answered with success, and must therefore keep. */
export interface Promised {
  /** By id. `repeatable` calls had an Idempotency-Key: their row may stand twice, and counts once. */
  forecasts: Map<string, { entityId: string; questionId: string; probability: number; repeatable: boolean }>
  /** The names of agents, by id. */
  agents: Map<string, { name: string; key: string }>
  /** Outcomes that an import reported as done, by question; each question is given one. */
  outcomes: Map<string, string>
  /** The exact text of each verification that was served, by its release and the agent's id. */
  served: Map<string, string>
}

const nothingPromised = (): Promised => ({
  forecasts: new Map(),
  agents: new Map(),
  outcomes: new Map(),
  served: new Map(),
})

/** Lists of what is wrong, each entry with its evidence. All are empty where all is well. */
export interface Findings {
  lost: string[]
  doubled: string[]
  /** Acknowledged content that differs, and objects whose bytes changed or that are gone. */
  changed: string[]
  audits: string[]
}

/** What a sound store gives. */
export const NO_FINDINGS: Findings = { lost: [], doubled: [], changed: [], audits: [] }

/** How much is wrong, for a report. */
export function countsOf({ lost, doubled, changed, audits }: Findings) {
  return {
    lost: lost.length,
    doubled: doubled.length,
    changed: changed.length,
    audit_faults: audits.length,
  }
}

interface Shard {
  entities: Record<string, { verification: { payload: object } }>
}

const DATA_FILE = /^tables\/(\w+)\/recorded_date=[^/]+\/[^/]+\.parquet$/
const MANIFEST = /^releases\/(\d{8})\/manifest\.json$/
const AGENT_SHARD = /^releases\/(\d{8})\/agent\/[^/]+\.json$/
/** Written once and never again. Inbox objects may go, since tables take them in. */
const NEVER_CHANGES = /^(?:inbox|intake|snapshots)\/|^tables\/(?!.*\/_last_checkpoint$)|^releases\//
const MAY_GO = /^inbox\//

export class StoreCheck {
  readonly promised = nothingPromised()
  readonly #store: Store
  readonly #folder: string
  readonly #remembered = new Map<string, string>()
  readonly #audited = new Set<number>()
  readonly #mirrored = new Set<string>()

  /** The folder is for copies of data files and for the temporary files of audits. */
  constructor(store: Store, folder: string) {
    this.#store = store
    this.#folder = folder
  }

  /** How many objects are held to their bytes, and how many releases have passed an audit. */
  get extent(): { objects: number; releases: number } {
    return { objects: this.#remembered.size, releases: this.#audited.size }
  }

  /**
   * Call it when a release has taken in everything that was promised. Audits the releases that are new; with
   * `everything` it audits all of them again.
   */
  async run({ everything = false } = {}): Promise<Findings> {
    const findings: Findings = { lost: [], doubled: [], changed: [], audits: [] }
    const paths = await this.#readAll(findings)
    const components = await testComponents({ store: this.#store, folder: this.#folder })
    await withDatabase(components.openDatabase, async (database) => {
      await this.#checkForecasts(database, paths, findings)
      await this.#checkAgents(database, paths, findings)
      await this.#checkOutcomes(database, paths, findings)
    })
    if (everything) this.#audited.clear()
    for (const path of paths) {
      const release = Number(MANIFEST.exec(path)?.[1] ?? 0)
      if (release === 0 || this.#audited.has(release)) continue
      const { faults } = await withDatabase(components.openDatabase, (database) =>
        auditRelease({ ...components, database, secrets: [SECRET] }, release),
      )
      findings.audits.push(...faults.map((fault) => `release ${release}: ${fault}`))
      this.#audited.add(release)
      await this.#checkServed(paths, release, findings)
    }
    return findings
  }

  /** Whatever was served of a release is what the release holds, byte for byte. */
  async #checkServed(paths: readonly string[], release: number, found: Findings): Promise<void> {
    for (const path of paths) {
      if (Number(AGENT_SHARD.exec(path)?.[1] ?? 0) !== release) continue
      const shard = JSON.parse(new TextDecoder().decode(await this.#store.get(path))) as Shard
      for (const [id, { verification }] of Object.entries(shard.entities)) {
        const served = this.promised.served.get(`${release} ${id}`)
        if (served !== undefined && served !== new TextDecoder().decode(canonical(verification.payload))) {
          found.changed.push(`${path}: was served as ${served}`)
        }
      }
    }
  }

  /** Compares every object with what it was, remembers the new ones, and returns all paths. */
  async #readAll(findings: Findings): Promise<string[]> {
    const paths = (await Array.fromAsync(this.#store.list(''))).map(({ path }) => path)
    const present = new Set(paths)
    await pMap(
      paths,
      async (path) => {
        if (!NEVER_CHANGES.test(path)) return
        // A plan may be replaced until its release is published.
        if (path.endsWith('/plan.json') && !present.has(path.replace('plan.json', 'manifest.json'))) return
        const bytes = await this.#store.get(path)
        if (!bytes) {
          if (!MAY_GO.test(path)) findings.changed.push(`${path}: listed, and gone`)
          return
        }
        const hash = sha256Hex(bytes)
        const before = this.#remembered.get(path)
        if (before !== undefined && before !== hash) findings.changed.push(`${path}: other bytes`)
        this.#remembered.set(path, hash)
        if (DATA_FILE.test(path)) await this.#mirror(path, bytes)
      },
      { concurrency: READS_AT_ONCE },
    )
    for (const path of this.#remembered.keys()) {
      if (!present.has(path) && !MAY_GO.test(path)) findings.changed.push(`${path}: gone`)
    }
    return paths
  }

  async #mirror(path: string, bytes: Uint8Array): Promise<void> {
    if (this.#store.localPath(path) !== undefined || this.#mirrored.has(path)) return
    await mkdir(dirname(this.#localPath(path)), { recursive: true })
    await writeFile(this.#localPath(path), bytes)
    this.#mirrored.add(path)
  }

  #localPath(path: string): string {
    return this.#store.localPath(path) ?? join(this.#folder, 'mirror', path)
  }

  /** The rows of a table by the glob that analysts use; none where the table has no file yet. */
  async #rows<T extends object>(
    database: Database,
    paths: readonly string[],
    table: string,
    select: (from: string) => string,
  ): Promise<T[]> {
    const files = paths.filter((path) => DATA_FILE.exec(path)?.[1] === table)
    if (files.length === 0) return []
    return database.rows<T>(select(parquet(files.map((path) => this.#localPath(path)))))
  }

  async #checkForecasts(database: Database, paths: readonly string[], found: Findings): Promise<void> {
    const rows = await this.#rows<{
      id: string
      times: number
      contents: number
      entity: string
      question: string
      probability: number
    }>(
      database,
      paths,
      'forecasts',
      (from) => `SELECT forecast_id AS id, count(*)::INTEGER AS times,
        count(DISTINCT (entity_id, question_id, probability, forecast_at))::INTEGER AS contents,
        min(entity_id) AS entity, min(question_id) AS question, min(probability) AS probability
      FROM ${from} WHERE source = 'api' GROUP BY forecast_id`,
    )
    const stored = new Map(rows.map((row) => [row.id, row]))
    for (const { id, contents } of rows) {
      if (contents > 1) found.doubled.push(`forecast ${id} stands ${contents} times with different content`)
    }
    for (const [id, promised] of this.promised.forecasts) {
      const row = stored.get(id)
      if (!row) found.lost.push(`forecast ${id} of agent ${promised.entityId}`)
      else if (row.times > 1 && !promised.repeatable) found.doubled.push(`forecast ${id}: ${row.times} rows`)
      else if (
        row.entity !== promised.entityId ||
        row.question !== promised.questionId ||
        row.probability !== promised.probability
      ) {
        found.changed.push(`forecast ${id}: ${JSON.stringify(row)} instead of ${JSON.stringify(promised)}`)
      }
    }
  }

  async #checkAgents(database: Database, paths: readonly string[], found: Findings): Promise<void> {
    const rows = await this.#rows<{ id: string; names: number; name: string }>(
      database,
      paths,
      'agents',
      (
        from,
      ) => `SELECT agent_id AS id, count(DISTINCT (name, model_type))::INTEGER AS names, min(name) AS name
      FROM ${from} GROUP BY agent_id`,
    )
    const stored = new Map(rows.map((row) => [row.id, row]))
    for (const [id, { name }] of this.promised.agents) {
      const row = stored.get(id)
      if (!row) found.lost.push(`agent ${id}`)
      else if (row.names > 1) found.doubled.push(`agent ${id}: ${row.names} different rows`)
      else if (row.name !== name) found.changed.push(`agent ${id}: ${row.name} instead of ${name}`)
    }
  }

  async #checkOutcomes(database: Database, paths: readonly string[], found: Findings): Promise<void> {
    const rows = await this.#rows<{ id: string; outcomes: string }>(
      database,
      paths,
      'resolutions',
      (from) =>
        `SELECT question_id AS id, string_agg(DISTINCT outcome, ' and ') AS outcomes FROM ${from} GROUP BY question_id`,
    )
    const stored = new Map(rows.map(({ id, outcomes }) => [id, outcomes]))
    for (const [id, outcome] of this.promised.outcomes) {
      const outcomes = stored.get(id)
      if (outcomes === undefined) found.lost.push(`outcome of question ${id}`)
      else if (outcomes !== outcome) found.changed.push(`outcome of ${id}: ${outcomes} instead of ${outcome}`)
    }
  }
}
