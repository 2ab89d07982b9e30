// How long a worker waits that takes the place of one that has ended.
import { expect, test } from 'vitest'
import { Replacement } from '../../../../jobs/serve/workers/replacement.ts'

const HOUR_MS = 3_600_000

test('none after a long life; twice as long after each further short one, and a minute at most', () => {
  const replacement = new Replacement()
  expect(replacement.pauseMs(HOUR_MS)).toBe(0)
  const pauses = Array.from({ length: 8 }, () => replacement.pauseMs(10))
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  expect(replacement.pauseMs(HOUR_MS)).toBe(0)
  expect(replacement.pauseMs(10)).toBe(1_000)
})
