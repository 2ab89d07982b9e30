// Derives the trees of forecasts again from the data files, and finds forecasts that are backdated and ids
// that stand for two forecasts.
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { base64Of } from '../proof/base64.ts'
import { attachAdded, treeOfLeaves } from '../release/files/forecasts-tree.ts'
import { type Before, newFiles } from '../release/trees.ts'
import { releasePrefix, tablePath } from '../store/paths.ts'
import { FORECASTS_TREE_PATH } from '../release/files/forecasts-tree.ts'
import type { TableVersion } from '../tables/delta.ts'
import { LATEST_MS, WITNESS_MINUTES } from '../transparency/taken-in.ts'
import { type LateForecast, exemptFrom } from './exemptions.ts'
import type { TablesContext } from './tables.ts'
import { readStoredTree } from './stored-tree.ts'
import { DAY_MS } from '../../schemas/values.ts'

/** Of the faults of one kind in one release, at most this many are named one by one. */
const NAMED = 10

/** The releases before the one to check. */
export interface Earlier {
  before: Before
  /** The greatest `as_of` of all releases before, with its release; undefined for the first. */
  latest: { release: number; asOf: Date } | undefined
}

export class ForecastChecks {
  readonly #context: TablesContext
  /** The checked releases, with the days of their `as_of`. */
  readonly #days: { release: number; day: string }[] = []

  private constructor(context: TablesContext) {
    this.#context = context
  }

  static async begin(context: TablesContext): Promise<ForecastChecks> {
    await context.database.run(
      'CREATE TABLE taken (forecast_id VARCHAR, contents UBIGINT, release INTEGER, is_leaf BOOLEAN)',
    )
    return new ForecastChecks(context)
  }

  /** Checks the forecasts that are new in a release. All data files of the release must be whole. */
  async check(manifest: ReleaseManifest, version: TableVersion, { before, latest }: Earlier): Promise<void> {
    const { database, findings } = this.#context
    const { release, trees } = manifest
    const path = releasePrefix(release) + FORECASTS_TREE_PATH
    const added = newFiles(version, before)
    const attached = await findings.read(this.#attach(release, { ...version, files: added }))
    if (!attached) return
    const { isAny } = attached
    await using derived = isAny ? await treeOfLeaves(this.#context) : undefined
    const [expected, found] = [derived?.subtree, trees.forecasts ?? undefined]
    const sizes = { derived: expected?.size ?? 0, stored: found?.size ?? 0 }
    const stored = await readStoredTree(this.#context.store, path, derived?.file, sizes)
    const root = expected && base64Of(expected.root)
    if (expected?.size !== found?.size || root !== found?.root) {
      const textOf = (size: number | undefined, rootHash: string | undefined) =>
        size ? `${size} leaves, root ${rootHash}` : 'none'
      findings.fault(
        path,
        `the data files give ${textOf(expected?.size, root)}, and the manifest has ${textOf(found?.size, found?.root)}` +
          stored.difference,
      )
    } else if (derived && !stored.isDerived) {
      findings.fault(path, `is not what the data files give${stored.difference}`)
    }
    for (const id of stored.repeatedIds) findings.fault(path, `has two leaves of the forecast ${id}`)
    this.#days.push({ release, day: manifest.as_of.slice(0, 10) })
    if (isAny) {
      findings.counts.forecasts_derived += expected?.size ?? 0
      await database.run(recordTaken(release))
      if (latest) await this.#checkTimes(manifest, before, latest)
    }
    for (const file of added) await this.#context.local.forget(tablePath('forecasts', file.path))
  }

  /**
   * Creates the views of forecasts for the tree of a release. `earlier` has the forecasts that the releases
   * before it have taken, beginning one day before the first new forecast: no release of an earlier day can
   * have one of these, and the one day allows for clocks that differ.
   */
  async #attach(release: number, added: TableVersion): Promise<{ isAny: boolean }> {
    const day = await attachAdded(this.#context, added)
    if (day === undefined) return { isAny: false }
    const since = new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, 10)
    const last = this.#days.findLast((each) => each.day < since)?.release ?? 0
    await this.#context.database.run(
      `CREATE OR REPLACE TEMP VIEW earlier AS SELECT forecast_id FROM taken WHERE release > ${last} AND release < ${release}`,
    )
    return { isAny: true }
  }

  /**
   * Checks that no new forecast of a release is older than the latest release before it, except for the time
   * that it may take to record one.
   */
  async #checkTimes(
    manifest: ReleaseManifest,
    before: Before,
    latest: NonNullable<Earlier['latest']>,
  ): Promise<void> {
    const { database, findings } = this.#context
    const { release } = manifest
    const known = before?.tables['forecasts'] ?? -1
    const earliest = new Date(latest.asOf.getTime() - LATEST_MS)
    const late = await database.rows<LateForecast>(
      `SELECT forecast_id AS id, forecast_at AS at FROM leaves
       WHERE forecast_at < '${earliest.toISOString()}'::TIMESTAMPTZ
         - if(entity_type = 'agent', INTERVAL 0 MINUTE, INTERVAL ${WITNESS_MINUTES} MINUTE) ORDER BY forecast_at, forecast_id`,
    )
    const faults = await exemptFrom(this.#context, manifest, known, late)
    const path = releasePrefix(release) + FORECASTS_TREE_PATH
    for (const { id, at } of faults.slice(0, NAMED)) {
      findings.fault(
        path,
        `the forecast ${id} is backdated: it says ${at.toISOString()}, and release ${latest.release} of ${latest.asOf.toISOString()} ` +
          `does not have it; expected ${earliest.toISOString()} or later`,
      )
    }
    if (faults.length > NAMED)
      findings.fault(path, `${faults.length - NAMED} further forecasts are backdated`)
  }

  /** Finds ids with two contents or two leaves, in any releases, once all releases are checked. */
  async finish(): Promise<void> {
    const { database, findings } = this.#context
    const rows = await database.rows<{
      id: string
      first: number
      last: number
      contents: bigint
      leaves: bigint
    }>(
      `SELECT forecast_id AS id, min(release) AS first, max(release) AS last,
         count(DISTINCT contents) AS contents, count_if(is_leaf)::BIGINT AS leaves
       FROM taken GROUP BY forecast_id HAVING count(DISTINCT contents) > 1 OR count_if(is_leaf) > 1
       ORDER BY forecast_id LIMIT ${NAMED}`,
    )
    for (const { id, first, last, contents, leaves } of rows) {
      findings.fault(
        releasePrefix(last) + FORECASTS_TREE_PATH,
        `the forecast ${id} is in the data files with ${contents} contents and has ${leaves} leaves, in releases ${first} to ${last}; expected one of each`,
      )
    }
  }
}

/**
 * Returns SQL that records the forecasts of a release with their contents: those that are leaves, and the
 * other new rows, which repeat an id.
 */
function recordTaken(release: number): string {
  const columns =
    'forecast_id, hash(entity_type, entity_id, question_id, probability, forecast_at) AS contents'
  return `INSERT INTO taken
    SELECT ${columns}, ${release}, true FROM leaves
    UNION ALL SELECT *, ${release}, false FROM (SELECT ${columns} FROM added EXCEPT SELECT ${columns} FROM leaves)`
}
