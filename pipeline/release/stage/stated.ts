// The members of a manifest that follow from the tables alone, without scores.
import type { ReleaseManifest } from '../../../schemas/manifests.ts'
import type { ScoredTable } from '../../../schemas/tables.ts'
import { withDatabase } from '../../duckdb.ts'
import { createQuestions } from '../../engine/queries.ts'
import type { TableVersion } from '../../tables/delta.ts'
import { attachCurrent } from '../../tables/views.ts'
import { correctedSince } from '../corrections.ts'
import type { ReleasePlan } from '../plan.ts'
import { questionsAt } from '../questions-at.ts'
import type { ReleaseContext } from '../state.ts'

/** Also returns how many questions score. */
export function statedByTables(
  { local, openDatabase }: ReleaseContext,
  plan: ReleasePlan,
  versions: Record<ScoredTable, TableVersion>,
  previous: ReleaseManifest | undefined,
) {
  const asOf = new Date(plan.as_of)
  return withDatabase(openDatabase, (database) =>
    local.reading(async () => {
      const corrected = await correctedSince({ database, local }, previous, versions, asOf)
      for (const table of ['questions', 'events', 'resolutions', 'agents'] as const) {
        await attachCurrent(database, local, { ...versions[table], table })
      }
      await createQuestions(database, asOf)
      const [counted] = await database.rows<{ questions: bigint }>(
        'SELECT count(*) AS questions FROM question',
      )
      const scored = Number(counted!.questions)
      return { ...corrected, scored, questionsAt: await questionsAt(database, asOf) }
    }),
  )
}
