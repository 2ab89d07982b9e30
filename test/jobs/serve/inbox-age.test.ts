// How long forecasts have waited in the inbox.
import { expect, test } from 'vitest'
import { InboxAge } from '../../../jobs/serve/inbox-age.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { inboxPathAt } from '../../../pipeline/store/paths.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import { Clock } from '../../support/http/service.ts'

const STARTED = '2026-03-01T12:00:00.000Z'
const SECOND_MS = 1_000

test('the age is that of the oldest forecast, grows while the store is silent, and ends with the inbox', async () => {
  const clock = new Clock(STARTED)
  const memory = new MemoryStore(clock.now)
  let isSilent = false
  const store = new FaultStore(memory, {
    before: () => {
      if (isSilent) throw new Error('the store does not answer')
    },
  })
  const age = new InboxAge({ store, now: clock.now })
  await age.look()
  expect(age.ms).toBe(0)

  const atMs = Date.parse(STARTED)
  const pathAt = (secondsAgo: number) =>
    `${inboxPathAt('forecasts', atMs - secondsAgo * SECOND_MS)}-7000-8000-000000000000-0123456789abcdef.parquet`
  for (const secondsAgo of [10, 90, 60]) await memory.put(pathAt(secondsAgo), Buffer.from('rows'))
  await memory.put('inbox/forecasts/0-of-another-program.parquet', Buffer.from('rows'))
  await age.look()
  expect(age.ms).toBe(90 * SECOND_MS)

  isSilent = true
  clock.set(new Date(atMs + 30 * SECOND_MS).toISOString())
  await age.look()
  expect(age.ms).toBe(120 * SECOND_MS)

  isSilent = false
  await memory.delete(pathAt(90))
  await age.look()
  expect(age.ms).toBe(90 * SECOND_MS)
  for (const secondsAgo of [10, 60]) await memory.delete(pathAt(secondsAgo))
  await age.look()
  expect(age.ms).toBe(0)
})
