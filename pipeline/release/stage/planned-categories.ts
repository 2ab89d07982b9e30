// The categories of a planned release, from its tables.
import { withDatabase } from '../../duckdb.ts'
import { createQuestions } from '../../engine/queries.ts'
import { attachCurrent } from '../../tables/views.ts'
import { type CategoryQuestions, categoriesAt } from '../category-boards.ts'
import { type ReleasePlan, versionsOf } from '../plan.ts'
import type { ReleaseContext } from '../state.ts'

export async function plannedCategories(
  { store, local, openDatabase }: ReleaseContext,
  plan: ReleasePlan,
): Promise<CategoryQuestions[]> {
  const versions = await versionsOf(store, plan)
  return withDatabase(openDatabase, (database) =>
    local.reading(async () => {
      for (const table of ['questions', 'events', 'resolutions'] as const) {
        await attachCurrent(database, local, { ...versions[table], table })
      }
      await createQuestions(database, new Date(plan.as_of))
      return categoriesAt(database)
    }),
  )
}
