// Parts of Parquet with one row per entity.
import { ENTITIES_COMMENTS } from '../../../schemas/column-comments.ts'
import { ENTITY_COLUMNS } from '../../../schemas/metrics.ts'
import type { ReleaseStamp } from '../../engine/scores-file.ts'
import { ENTITIES_FOLDER, partPath, partsOf } from '../parts.ts'
import type { RankedEntity } from '../payloads.ts'
import { type ParquetColumn, ParquetRows } from '../rows-parquet.ts'
import { type Input, wholeOf } from '../stage/lines.ts'
import { ENTITY_LINES, rankedIn } from '../stage/entity-lines.ts'
import { partFiles } from '../stage/part-files.ts'
import type { Publishing } from '../stage/publishing.ts'
import { unitsIn } from '../stage/units.ts'
import type { ScoredKind } from './kind.ts'

const FILE_COLUMNS: readonly ParquetColumn[] = [
  { name: 'release', type: 'INT32' },
  { name: 'as_of', type: 'INSTANT' },
  { name: 'entity_type', type: 'STRING' },
  { name: 'entity_id', type: 'STRING' },
  { name: 'award', type: 'STRING' },
  { name: 'name', type: 'STRING' },
  ...ENTITY_COLUMNS.map(({ name, type }) => ({ name, type })),
]

/** Returns entities as one file. */
function entitiesParquet(entities: Iterable<RankedEntity>, stamp: ReleaseStamp): Uint8Array {
  const file = new EntitiesFile(stamp)
  for (const entity of entities) file.add(entity)
  return file.finish()
}

/** A file under way. */
class EntitiesFile {
  readonly #rows = new ParquetRows(FILE_COLUMNS, ENTITIES_COMMENTS)
  readonly #stamp: readonly [release: number, asOf: Date]

  constructor({ release, as_of }: ReleaseStamp) {
    this.#stamp = [release, new Date(as_of)]
  }

  add(entity: RankedEntity): void {
    this.#rows.add([...this.#stamp, ...entityRow(entity)])
  }

  finish(): Uint8Array {
    return this.#rows.finish()
  }
}

function entityRow(entity: RankedEntity): unknown[] {
  const values = ENTITY_COLUMNS.map(({ metric, field }) => {
    const value = entity.metrics[metric]
    return field === undefined ? value : ((value as Record<string, number> | null)?.[field] ?? null)
  })
  return [entity.entityType, entity.entityId, Object.values(entity.award)[0], entity.facts.name, ...values]
}

/** Reads entities with their scores, and puts the parts. */
async function* publish(
  { context, provenance, field, put }: Publishing,
  input: Input,
): AsyncIterable<string> {
  const rank = rankedIn(context.methodology, await field())
  yield* unitsIn(input, ENTITY_LINES, (first) => {
    const number = wholeOf(first[ENTITY_LINES.at.unit]!)
    const file = new EntitiesFile(provenance)
    let opening: RankedEntity | undefined
    let rows = 0
    return {
      take(fields) {
        const entity = rank(fields)
        opening ??= entity
        file.add(entity)
        rows += 1
      },
      end() {
        const { entityType: entity_type, entityId: first_id } = opening!
        const path = partPath(ENTITIES_FOLDER, number)
        return put({ path, rows, bytes: file.finish(), entity_type, first_id })
      },
    }
  })
}

export const ENTITIES: ScoredKind = {
  name: 'entities',
  places: [ENTITIES_FOLDER],
  *make({ ranked, shards, partSizes, provenance }) {
    for (const part of partsOf(ENTITIES_FOLDER, shards, partSizes)) {
      const { path, entityType: entity_type, entities: rows } = part
      const members = ranked.slice(part.firstEntity, part.firstEntity + rows)
      const first_id = members[0]!.entityId
      yield { path, entity_type, first_id, rows, bytes: entitiesParquet(members, provenance) }
    }
  },
  publish,
  arrange: (staged) => partFiles(staged, ENTITIES_FOLDER),
}
