import { expect, it } from 'vitest'
import { counted, minuteOf, percent, plain, signed } from '../../../api/pages/numbers.ts'

it('writes signs where there is a zero to compare with', () => {
  expect([0.203056, -0.052, 0].map((value) => signed(value))).toEqual(['+0.203', '−0.052', '0.000'])
  expect([-0.0004, 0.0004, -0, -0.0006].map((value) => signed(value))).toEqual([
    '0.000',
    '0.000',
    '0.000',
    '−0.001',
  ])
  expect([-0.004, 0.004, -0.006].map((value) => plain(value, 2))).toEqual(['0.00', '0.00', '−0.01'])
  expect([0.13, -0.05].map((value) => plain(value, 2))).toEqual(['0.13', '−0.05'])
})

it('writes 0 % and 100 % only where nothing is missing', () => {
  const written = [0, 0.001, 0.7, 0.996, 1].map((share) => percent(share).replaceAll('\u00a0', ' '))
  expect(written).toEqual(['0 %', '< 1 %', '70 %', '> 99 %', '100 %'])
})

it('counts in words and groups thousands', () => {
  expect([1, 2, 1200].map((count) => counted(count, 'question'))).toEqual([
    '1 question',
    '2 questions',
    '1,200 questions',
  ])
})

it('writes instants to the minute, in UTC', () => {
  expect(minuteOf('2026-11-21T21:46:09.887Z')).toBe('2026-11-21 21:46 UTC')
})
