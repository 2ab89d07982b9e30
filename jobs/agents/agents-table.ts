// The table of agents, as commands write to it.
import { withDatabase } from '../../pipeline/duckdb.ts'
import type { StatedCounts } from '../../pipeline/import/agents.ts'
import type { ImportContext } from '../../pipeline/import/take-in.ts'
import { assertEnvironment } from '../../pipeline/release/state.ts'
import type { Components } from '../components/components.ts'

/** Writes to the table of agents. */
export async function onTable(
  components: Components,
  work: (context: ImportContext) => Promise<StatedCounts>,
): Promise<StatedCounts> {
  const { manifest } = await assertEnvironment(components)
  return withDatabase(components.openDatabase, (database) =>
    work({ ...components, database, released: manifest?.tables ?? {} }),
  )
}
