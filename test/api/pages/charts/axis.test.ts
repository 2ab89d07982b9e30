import { expect, it } from 'vitest'
import { decimalsOf, multiples, place, stepFor } from '../../../../api/pages/charts/axis.ts'

it('divides a range into at most so many round parts', () => {
  expect([0.1, 0.35, 0.9, 2.5, 110, 2000].map((range) => stepFor(range, 4))).toEqual([
    0.025, 0.1, 0.25, 1, 50, 500,
  ])
})

it('writes ticks with as many decimals as tell them apart', () => {
  expect([0.025, 0.05, 0.1, 0.25, 0.5, 1, 50].map(decimalsOf)).toEqual([3, 2, 1, 2, 1, 0, 0])
})

it('has a tick at every multiple, both ends included', () => {
  expect(multiples(-0.1, 0.3, 0.1).map((value) => value.toFixed(1))).toEqual([
    '-0.1',
    '0.0',
    '0.1',
    '0.2',
    '0.3',
  ])
  expect(multiples(1, 110, 25)).toEqual([25, 50, 75, 100])
})

it('keeps what lies beyond an axis at its end', () => {
  const axis = { least: 0, most: 10, from: 100, to: 0 }
  expect([-5, 0, 2.5, 10, 99].map((value) => place(axis, value))).toEqual([100, 100, 75, 0, 0])
})
