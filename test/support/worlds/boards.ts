// Releases of which only the manifest and the boards are there: all that credentials are issued from.
import { canonical, sha256Hex } from '../../../pipeline/proof/canonical.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { manifestPath, releasePrefix } from '../../../pipeline/store/paths.ts'
import { leaderboardPath } from '../../../pipeline/release/files/leaderboards.ts'
import type { EntityType } from '../../../schemas/tables.ts'
import { recordIn, setRecord } from '../store-content.ts'
import { copyReleasedWorld, uuidOf } from './world.ts'

/** The titles of a release: of agents and of people, by their numbers. */
export interface Titles {
  agents?: Record<number, string>
  people?: Record<number, string>
  /** Agents that have retired. */
  retired?: readonly number[]
  /** Names of agents that have another one than at first. */
  renamed?: Record<number, string>
}

export const boardAgent = (number: number): string => uuidOf(3, number)
export const boardPerson = (number: number): string => uuidOf(2, number)

/** A store with the manifest of a release, and no board yet. */
export async function storeOfBoards(): Promise<MemoryStore> {
  const store = new MemoryStore()
  await copyReleasedWorld(store)
  return store
}

/** Puts a release, which takes the place of one that is there. */
export function putBoards(
  store: MemoryStore,
  release: number,
  { agents = {}, people = {}, retired = [], renamed = {} }: Titles,
) {
  const as_of = `2026-03-0${release}T12:00:00.000Z`
  const files = [
    boardFile(
      store,
      release,
      'agent',
      Object.entries(agents).map(([number, certification]) => ({
        agent_id: boardAgent(Number(number)),
        name: renamed[Number(number)] ?? `agent "${number}"`,
        certification,
        retired_at: retired.includes(Number(number)) ? as_of : null,
        ...numbersOf(Number(number)),
      })),
    ),
    boardFile(
      store,
      release,
      'forecaster',
      Object.entries(people).map(([number, badge]) => ({
        user_id: boardPerson(Number(number)),
        name: 'A Name',
        badge,
        ...numbersOf(Number(number)),
      })),
    ),
  ]
  const template = recordIn(store, manifestPath(1))
  setRecord(store, manifestPath(release), { ...template, release, as_of, files })
}

function numbersOf(number: number) {
  const skill = number / 100
  return {
    skill,
    skill_interval: { lower: skill / 2, upper: skill * 1.5, level: 0.975 },
    contested_questions: 100 + number,
  }
}

function boardFile(store: MemoryStore, release: number, entity_type: EntityType, entries: object[]) {
  const path = leaderboardPath(entity_type, 0)
  const bytes = canonical({ entity_type, release, entries })
  store.objects.set(releasePrefix(release) + path, bytes)
  return { path, rows: entries.length, size_bytes: bytes.byteLength, sha256: sha256Hex(bytes) }
}
