// Releases over random histories: forecasts, outcomes, corrections, owners and retirements come in between, and
// each release is what the tables of its time lead to.
// @module-tag slow
import { describe, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { auditRelease } from '../../pipeline/audit/release.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, SECRET, release, testComponents } from '../support/http/service.ts'
import { HISTORY_START_MS, historyOf, takeIn } from '../support/worlds/history.ts'

const folder = await suiteFolder()

async function faultsOf(components: Components, number: number): Promise<string[]> {
  using database = await components.openDatabase()
  const { faults } = await auditRelease({ ...components, database, secrets: [SECRET] }, number)
  return faults
}

describe('every release of a history', () => {
  test.for([1, 2, 3, 4])('is derived again from the tables alone: history %d', async (seed) => {
    const store = new MemoryStore()
    const clock = new Clock(new Date(HISTORY_START_MS).toISOString())
    const steps = historyOf(seed, 9)
    for (const [index, step] of steps.entries()) {
      clock.set(new Date(clock.now().getTime() + step.laterMs).toISOString())
      await takeIn(step, store, `s${index + 1}`)
      await release(await testComponents({ store, folder, clock }))
    }
    for (const [index] of steps.entries()) {
      expect(await faultsOf(await testComponents({ store, folder, clock }), index + 1)).toEqual([])
    }
  })
})
