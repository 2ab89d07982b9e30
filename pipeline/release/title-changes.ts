// Tells whose title differs between a release and the one before it.
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { TITLES, type Title } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { PipelineComponents } from '../components.ts'
import { literal, withDatabase } from '../duckdb.ts'
import { awardsIn, forgetEntities } from './summary.ts'

/** The most changes that are told one by one. */
const MOST_TOLD = 100

export interface TitleChange {
  entityType: EntityType
  entityId: string
  from: Title
  to: Title
}

export interface TitleChanges {
  /** How many have a higher title than in the release before. */
  won: number
  /** How many have a lower one. */
  lost: number
  /** Those who won come first, the highest titles first of all; at most a hundred. */
  first: TitleChange[]
}

/**
 * It reads the files of entities of both releases, and only their columns of ids and awards.
 *
 * @param previous undefined for the first release.
 * @returns undefined if retention has deleted files of one of them.
 */
export async function titleChanges(
  { local, openDatabase }: Pick<PipelineComponents, 'local' | 'openDatabase'>,
  manifest: ReleaseManifest,
  previous: ReleaseManifest | undefined,
): Promise<TitleChanges | undefined> {
  try {
    const rows = await local.reading(async () => {
      const changed = changedTitles(await awardsIn(local, manifest), await awardsIn(local, previous))
      return withDatabase(openDatabase, (database) => database.rows<Row>(changed))
    })
    const { won, lost } = rows[0] ?? { won: 0n, lost: 0n }
    const first = rows.map(({ entity_type, entity_id, from, to }) => {
      return { entityType: entity_type, entityId: entity_id, from, to }
    })
    return { won: Number(won), lost: Number(lost), first }
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'notFound') return undefined
    throw error
  } finally {
    // A node that is asked for many releases would else keep a copy of each.
    for (const one of [manifest, previous]) await forgetEntities(local, one)
  }
}

interface Row {
  entity_type: EntityType
  entity_id: string
  from: TitleChange['from']
  to: TitleChange['to']
  won: bigint
  lost: bigint
}

/** Grain: one row per entity whose title has changed, with how many won and lost one in all. */
function changedTitles(now: string, before: string): string {
  return `WITH changed AS (
      SELECT entity_type, entity_id, coalesce(before.award, 'none') AS "from", coalesce(now.award, 'none') AS "to",
        ${heightOf('"from"')} AS height_before, ${heightOf('"to"')} AS height_now
      FROM (${now}) now FULL JOIN (${before}) before USING (entity_type, entity_id)
      WHERE "from" <> "to")
    SELECT entity_type, entity_id, "from", "to", count(*) FILTER (height_now > height_before) OVER () AS won,
      count(*) FILTER (height_now < height_before) OVER () AS lost
    FROM changed
    ORDER BY height_now > height_before DESC, greatest(height_now, height_before) DESC, entity_type, entity_id
    LIMIT ${MOST_TOLD}`
}

/** The place of a title among all. */
function heightOf(title: string): string {
  return `list_position([${TITLES.map(literal).join(', ')}], ${title})`
}
