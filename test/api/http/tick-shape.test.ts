import { expect, test } from 'vitest'
import { holdTickShape } from '../../../api/http/tick-shape.ts'

// That this keeps `process.nextTick` fast is measured by `node bench/ticks.ts`.
test('what is held is an object of process.nextTick, as Node makes it', async () => {
  expect(Object.keys(await holdTickShape())).toEqual(['callback', 'args'])
})
