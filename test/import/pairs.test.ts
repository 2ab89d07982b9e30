// Every pair of the commands that write to the tables, at once, with the two together at the first, second
// and third object that decides or brings rows.
// @module-tag slow
import { beforeAll, expect, test } from 'vitest'
import type { MemoryStore } from '../../pipeline/store/memory.ts'
import { suiteFolder } from '../support/folder.ts'
import { PAIRS, expectSerial, runAtOnce, storeAtOnce } from '../support/worlds/at-once.ts'

const folder = await suiteFolder()
const PLACES = [1, 2, 3]
let prepared: MemoryStore
let rounds = 0
beforeAll(async () => {
  prepared = await storeAtOnce(folder)
})

test.for(PAIRS)('%s beside %s', async ([one, other]) => {
  for (const at of PLACES) {
    const ran = await runAtOnce(prepared, folder, [one, other], at)
    await expectSerial(prepared, folder, [one, other], ran)
    rounds += 1
  }
})

test('a hundred rounds at least', () => {
  console.info(`${rounds} rounds of ${PAIRS.length} pairs`)
  expect(rounds).toBeGreaterThanOrEqual(100)
})
