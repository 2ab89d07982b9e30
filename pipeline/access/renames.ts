// The new names that agents ask for. The next release writes them to the table of agents, all in one
// statement.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { name } from '../../schemas/names.ts'
import { publishedUuid } from '../../schemas/values.ts'
import {
  RENAMING_PREFIX,
  moderationPrefix,
  renamingAgent,
  renamingInstant,
  renamingPath,
} from '../store/paths.ts'
import { recordAt } from '../store/records.ts'
import { type Store, holdsAny } from '../store/store.ts'

/** The most names of an agent that may wait, so that no release has to read many. */
const MOST_WAITING = 5

const renaming = z.strictObject({ agent_id: publishedUuid, name })

/** The names that wait, and the notes of them. */
export interface Waiting {
  names: Map<string, string>
  paths: string[]
}

/**
 * Asks the next release to give an agent another name. Of several names the last one counts.
 *
 * @throws ServiceError `forbidden` for an agent that the operator has renamed or hidden, `conflict` if too
 *   many names wait.
 */
export async function askForName(
  store: Store,
  { agent_id: agentId, name: wanted }: z.infer<typeof renaming>,
  now: Date,
): Promise<void> {
  if (await isModerated(store, agentId)) {
    throw new ServiceError('forbidden', NAMED_BY_OPERATOR, { type: 'named-by-operator' })
  }
  const waiting = await Array.fromAsync(store.list(`${RENAMING_PREFIX}${agentId}-`))
  if (waiting.length >= MOST_WAITING) {
    throw new ServiceError('conflict', RENAMED_OFTEN, { type: 'renamed-often' })
  }
  // Take a later instant than all waiting names have, because the clock of another node may be ahead.
  const lastMs = Math.max(...waiting.map(({ path }) => renamingInstant(path)))
  for (let atMs = Math.max(now.getTime(), lastMs + 1); ; atMs++) {
    if (
      await recordAt(store, renamingPath(agentId, atMs), renaming).create({ agent_id: agentId, name: wanted })
    )
      return
  }
}

export function isNameWaiting(store: Store): Promise<boolean> {
  return holdsAny(store, RENAMING_PREFIX)
}

/** Returns the names that wait, without those of agents that the operator has renamed or hidden since. */
export async function waitingNames(store: Store): Promise<Waiting> {
  for (;;) {
    const found = await readWaiting(store)
    if (!found) continue
    const { names } = found
    for (const agentId of names.keys()) if (await isModerated(store, agentId)) names.delete(agentId)
    return found
  }
}

/** Returns undefined if another run takes notes away meanwhile: only an older name may be left then. */
async function readWaiting(store: Store): Promise<Waiting | undefined> {
  const found: Waiting = { names: new Map(), paths: [] }
  // The paths of an agent come in the order in which the names were asked for.
  for await (const { path } of store.list(RENAMING_PREFIX)) {
    const agentId = renamingAgent(path)
    if (agentId === undefined) continue
    const note = await recordAt(store, path, renaming).get()
    if (!note) return undefined
    found.names.set(agentId, note.name)
    found.paths.push(path)
  }
  return found
}

/** Notes that the table of agents has the names. */
export async function namesTold(store: Store, { paths }: Waiting): Promise<void> {
  for (const path of paths) await store.delete(path)
}

function isModerated(store: Store, agentId: string): Promise<boolean> {
  return holdsAny(store, moderationPrefix(agentId))
}

const NAMED_BY_OPERATOR = 'the operator has renamed or hidden this agent: ask the operator for another name'
export const RENAMED_OFTEN = `${MOST_WAITING} names of this agent wait for the next release: ask for another one after it`
