import { expect, test } from 'vitest'
import { holdTickShape } from '../../api/tick-shape.ts'

// That this keeps `process.nextTick` fast is measured by `node bench/ticks.ts`.
test('an object of process.nextTick is found and held, however often that is asked for', () => {
  expect(holdTickShape()).toBe(true)
  expect(holdTickShape()).toBe(true)
})
