// The names of people: what a store has of them, and what is left of one that was taken back.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type NameChange, PeopleNames, changeNames } from '../../pipeline/people/names.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { namesOf } from '../support/people.ts'
import { NOW, uuidOf } from '../support/worlds/world.ts'

const ERASED: NameChange = { erased: { erased_at: NOW, reason: 'asked for it' } }
const change = (store: Store, userId: string, to: NameChange) => changeNames(store, new Map([[userId, to]]))
/** Two people of one shard, and one of another. */
const [ADA, EVE, BOB] = [uuidOf(1, 0x01ff), uuidOf(1, 0x02ff), uuidOf(1, 0x0100)]

const textIn = ({ objects }: MemoryStore) =>
  [...objects.values()].map((bytes) => Buffer.from(bytes).toString('latin1')).join('\n')

test('rivals lose no name of each other, and none brings back a name that was taken back', () => {
  const said = fc.record({ of: fc.constantFrom(ADA, EVE, BOB), as: fc.constantFrom('one', 'two', null) })
  return fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(said, { maxLength: 5 }), async (scheduler, changes) => {
      const store = new MemoryStore()
      const rival = () => new FaultStore(store, { before: () => scheduler.schedule(Promise.resolve()) })
      const work = [
        change(rival(), ADA, ERASED),
        ...changes.map(({ of, as }) => change(rival(), of, { name: as && `the name ${as}` })),
      ]
      await scheduler.waitFor(Promise.all(work))
      const [ada, ...others] = await namesOf(store, [ADA, EVE, BOB])
      expect(ada).toBeNull()
      for (const [index, of] of [EVE, BOB].entries()) {
        const names = changes.filter((one) => one.of === of).map(({ as }) => as && `the name ${as}`)
        expect(names.length === 0 ? [null] : names).toContain(others[index])
      }
      const left = others.filter((name) => name !== null)
      expect(textIn(store).match(/the name/g)?.length ?? 0).toBe(left.length)
    }),
    { numRuns: 60 },
  )
})

test('an erasure that fails at any write, in both ways, is complete once it is repeated', async () => {
  for (const fault of FAULTS) {
    for (let at = 1; ; at++) {
      const store = new MemoryStore()
      await change(store, ADA, { name: 'Ada' })
      await change(store, EVE, { name: 'Eve' })
      const faulty = new FaultStore(store, { at, fault, crash: true })
      await change(faulty, ADA, ERASED).catch(() => undefined)
      if (!faulty.failed) break
      await change(store, ADA, ERASED)
      expect(textIn(store)).not.toContain('Ada')
      expect(await namesOf(store, [ADA, EVE])).toEqual([null, 'Eve'])
    }
  }
})

test('a look that finds nothing new is one listing, and one that does reads what is new', async () => {
  const store = new MemoryStore()
  for (const [id, name] of [
    [ADA, 'Ada'],
    [BOB, 'Bob'],
  ] as const)
    await change(store, id, { name })
  const watched = new FaultStore(store)
  const names = new PeopleNames(watched)
  await names.refresh()
  const { version } = names
  watched.calls.length = 0
  await names.refresh()
  expect(watched.calls.map(({ operation }) => operation)).toEqual(['list'])
  expect(names.version).toBe(version)
  await change(store, ADA, ERASED)
  await names.refresh()
  expect(watched.count('get')).toBe(1)
  expect(names.version).not.toBe(version)
  expect([names.nameOf(ADA), names.nameOf(BOB)]).toEqual([null, 'Bob'])
})
