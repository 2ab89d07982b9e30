// Work in the background goes on where a callback of it throws, and so never ends its step.
import { expect, test } from 'vitest'
import { failWork } from '../../../api/http/net.ts'
import { Follower } from '../../../jobs/serve/follower.ts'
import { pauseFor, repeat } from '../../../jobs/serve/repeat.ts'

/** A step without an end, whose callback throws to where the process catches it. */
const lost = (isTaken: (is: boolean) => void) =>
  new Promise<void>(() => {
    setImmediate(() => {
      isTaken(failWork(new Error('planted')))
    })
  })

test('a repeated step whose callback throws has ended, and the next one is taken', async () => {
  const taken: boolean[] = []
  const steps = repeat(1, () => lost((is) => taken.push(is)))
  await expect.poll(() => taken.length).toBeGreaterThanOrEqual(3)
  await steps.stop()
  expect(new Set(taken)).toEqual(new Set([true]))
})

test('a look at the store whose callback throws has ended, and the next one is made', async () => {
  const taken: boolean[] = []
  const follow = () => lost((is) => taken.push(is))
  const follower = new Follower({ refreshMs: 1, pause: pauseFor, follow })
  await expect
    .poll(async () => {
      await follower.catchUp()
      return taken.length
    })
    .toBeGreaterThanOrEqual(3)
  await follower.stop()
})

test('an exception outside of any work belongs to none', () => {
  expect(failWork(new Error('planted'))).toBe(false)
})
