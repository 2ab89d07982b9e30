// A world whose second release takes in an agent's forecast in time, and whose third settles the question.
import { v7 as uuidv7 } from 'uuid'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { apiForecast } from '../http/api-forecasts.ts'
import { Clock, importRows, release, testComponents } from '../http/service.ts'
import { copyOf } from '../store-content.ts'
import { send } from '../tables.ts'
import { QUESTION, copyReleasedWorld } from './world.ts'

export const SECOND = '2026-03-02T12:00:00.000Z'
const THIRD = '2026-03-03T12:00:00.000Z'
const HONEST = '2026-03-02T11:00:00.000Z'

export const idAt = (time: string) =>
  uuidv7({ msecs: Date.parse(time), random: new Uint8Array(16).fill(7), seq: 1 })

export interface BegunWorld {
  folder: string
  /** Of two releases, without a log. */
  store: MemoryStore
  agentId: string
}

export async function begunWorld(folder: string): Promise<BegunWorld> {
  const store = new MemoryStore()
  const { agentId } = await copyReleasedWorld(store)
  await send(store, 'forecasts', 'a', [apiForecast(agentId, 0, HONEST, 0.25, idAt(HONEST)).row])
  await release(await testComponents({ store, folder, clock: new Clock(SECOND) }))
  return { folder, store, agentId }
}

/** Returns a copy in which more forecasts came after the second release, and the question was settled. */
export async function settledStore(
  { folder, store: begun, agentId }: BegunWorld,
  more: readonly { at: string; id: string }[],
): Promise<MemoryStore> {
  const store = copyOf(begun)
  const rows = more.map(({ at, id }, nth) => apiForecast(agentId, 10 + nth, at, 0.125, id).row)
  if (rows.length > 0) await send(store, 'forecasts', 'z', rows)
  const components = await testComponents({ store, folder, clock: new Clock(THIRD) })
  const columns = 'question_id,title,category,url,opened_at,closes_at'
  const ended = `${QUESTION.open},Open?,,https://example.org/open,2026-01-01T00:00:00Z,2026-03-02T23:00:00Z`
  await importRows(components, 'questions', `${columns}\n${ended}\n`)
  const outcome = `${QUESTION.open},yes,2026-03-03T00:00:00Z`
  await importRows(components, 'resolutions', `question_id,outcome,resolved_at\n${outcome}\n`)
  await release(components)
  return store
}
