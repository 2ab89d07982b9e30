// A node that rested, because nobody asked it for anything, looks at its store before it answers.
import { beforeAll, expect, test } from 'vitest'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { manifestPath } from '../../../pipeline/store/paths.ts'
import { FOUND, quotaIn } from '../../support/http/counted-calls.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import { Clock, release, testComponents, testService } from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { NOW, copyReleasedWorld } from '../../support/worlds/world.ts'

let released: MemoryStore
beforeAll(async () => {
  released = new MemoryStore()
  await copyReleasedWorld(released)
})

/** A node that has answered and rests since; `hold` keeps its next look from ending. */
async function restedNode() {
  const store = copyOf(released)
  const clock = new Clock(NOW)
  let looks = 0
  let gate: Promise<void> | undefined
  const watched = new FaultStore(store, {
    before: ({ path }) => {
      if (path !== manifestPath(2)) return undefined
      looks += 1
      return gate
    },
  })
  const service = await testService({ store: watched, clock })
  const ask = () => service.client.get(FOUND)
  const remaining = async () => quotaIn(await ask()).remaining
  const first = await remaining()
  // A node that looks no more rests. It looks every 50 ms as long as it is asked.
  let quiet = { looks: -1, polls: 0 }
  await expect
    .poll(() => {
      quiet = looks === quiet.looks ? { looks, polls: quiet.polls + 1 } : { looks, polls: 0 }
      return quiet.polls
    })
    .toBeGreaterThan(15)
  return {
    ...service,
    ask,
    remaining,
    first,
    looks: () => looks,
    hold: () => {
      const held = Promise.withResolvers<void>()
      gate = held.promise
      return held.resolve
    },
    release: async () => {
      clock.set('2026-03-01T13:00:00.000Z')
      await release(await testComponents({ store, clock }))
    },
  }
}

test('a node that rested looks at its store first, and then answers and counts the call once', async () => {
  const { ask, remaining, first, looks } = await restedNode()
  const before = looks()
  const answer = await ask()
  expect(looks()).toBeGreaterThan(before)
  expect(answer.status).toBe(200)
  expect(quotaIn(answer).remaining).toBe(first - 1)
  expect(await remaining()).toBe(first - 2)
})

test(
  'a node that rested answers from the release that came meanwhile, and counts the call once',
  { tags: ['slow'] },
  async () => {
    const { ask, first, release: make } = await restedNode()
    await make()
    const answer = await ask()
    expect(answer.json()).toMatchObject({ release: 2 })
    expect(quotaIn(answer).remaining).toBe(first - 1)
  },
)

test('an answer that is sent while the service shuts down is the last of its connection', async () => {
  const { ask, hold, looks, stop } = await restedNode()
  const letGo = hold()
  const before = looks()
  const asked = ask()
  await expect.poll(looks).toBe(before + 1)
  const stopped = stop()
  letGo()
  const { status, headers } = await asked
  await stopped
  expect([status, headers.connection]).toEqual([200, 'close'])
})
