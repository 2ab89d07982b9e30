// Statements of agents about themselves, from calls of the API. Each release records them in the table of
// agents.
import { type Waiting, isNameWaiting, namesTold, waitingNames } from '../../pipeline/access/renames.ts'
import { renameAsAsked, retireAsAsked } from '../../pipeline/import/agents.ts'
import type { Components } from '../components/components.ts'
import { onTable } from './agents-table.ts'

/** Records the new names and the retirements of agents in the table of agents. */
export async function recordOwnStatements(components: Components): Promise<void> {
  await recordRetirements(components)
  await recordRenames(components)
}

async function recordRenames(components: Components): Promise<void> {
  const { store } = components
  if (!(await isNameWaiting(store))) return
  let waiting: Waiting = { names: new Map(), paths: [] }
  const wantedNames = async () => (waiting = await waitingNames(store)).names
  const { changed } = await onTable(components, (context) => renameAsAsked(context, wantedNames))
  await namesTold(store, waiting)
  components.log('recorded renames', { agents: changed })
}

async function recordRetirements(components: Components): Promise<void> {
  const { registry, now, log } = components
  const at = now().toISOString()
  let retired = new Map<string, string>()
  const dueRetirements = async () => {
    retired = new Map()
    for (const id of await registry.retiring()) {
      const since = await registry.retiredAt(id)
      if (since !== null && since <= at) retired.set(id, since)
    }
    return retired
  }
  if ((await dueRetirements()).size === 0) return
  const { changed } = await onTable(components, (context) => retireAsAsked(context, dueRetirements))
  for (const [id, since] of retired) {
    // The agent may have taken the retirement back since, and dueRetirements for it once more.
    if ((await registry.retiredAt(id)) === since) await registry.retirementTold(id)
  }
  log('recorded retirements', { agents: changed })
}
