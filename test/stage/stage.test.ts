// A release in stages: the same bytes as from `fvs release`, whatever is in the world.
import { describe, expect, test } from 'vitest'
import type { Components } from '../../jobs/components.ts'
import { auditRelease } from '../../pipeline/release/audit.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { Row, TableName } from '../../schemas/tables.ts'
import { suiteFolder } from '../support/folder.ts'
import { HISTORY_START_MS, type Step, historyOf } from '../support/history.ts'
import { Clock, SECRET, release, testComponents } from '../support/service.ts'
import { stagedRelease } from '../support/staged-release.ts'
import { contentOf, copyOf } from '../support/store-content.ts'
import { send } from '../support/tables.ts'

const folder = await suiteFolder()

function componentsOn(store: MemoryStore, clock: Clock): Promise<Components> {
  return testComponents({ store, folder, clock })
}

/** A store without the pairs of any release, so that the next one sweeps everything, as stages do. */
function withoutPairs(store: MemoryStore): MemoryStore {
  const copy = copyOf(store)
  for (const path of copy.objects.keys()) if (path.includes('/pairs/')) copy.objects.delete(path)
  return copy
}

async function take({ rows }: Step, store: MemoryStore, id: string): Promise<void> {
  for (const [table, added] of Object.entries(rows)) {
    if (added.length > 0) await send(store, table as TableName, id, added)
  }
}

async function faultsOf(store: MemoryStore, clock: Clock, number: number): Promise<string[]> {
  const components = await componentsOn(store, clock)
  using database = await components.openDatabase()
  const { faults } = await auditRelease({ ...components, database, secrets: [SECRET] }, number)
  return faults
}

/** Without rows of an id that is known with another question: no program of the service makes those. */
function lawful(steps: readonly Step[]): Step[] {
  const questions = new Map<string, unknown>()
  return steps.map(({ rows, laterMs }) => {
    const isLawful = ({ forecast_id, question_id }: Row) => {
      const known = questions.get(forecast_id as string) ?? question_id
      questions.set(forecast_id as string, known)
      return known === question_id
    }
    return { laterMs, rows: { ...rows, forecasts: (rows.forecasts ?? []).filter(isLawful) } }
  })
}

describe('a release in stages', () => {
  test.for([1, 2, 3, 4, 5])(
    'has the bytes of a release in one process: history %d',
    { timeout: 120_000 },
    async (seed) => {
      const store = new MemoryStore()
      const clock = new Clock(new Date(HISTORY_START_MS).toISOString())
      for (const [index, step] of lawful(historyOf(seed, 3)).entries()) {
        const number = index + 1
        clock.set(new Date(clock.now().getTime() + step.laterMs).toISOString())
        await take(step, store, `s${number}`)
        const whole = withoutPairs(store)
        expect(await stagedRelease(await componentsOn(store, clock))).toMatchObject({ made: true })
        await release(await componentsOn(whole, clock))
        const released = `releases/${String(number).padStart(8, '0')}/`
        expect(await contentOf(store, released)).toEqual(await contentOf(whole, released))
        expect(await contentOf(store, 'snapshots/')).toEqual(await contentOf(whole, 'snapshots/'))
        expect(await faultsOf(store, clock, number), `release ${number}`).toEqual([])
      }
    },
  )
})
