import { expect, it } from 'vitest'
import { barX, intervalBar } from '../../../../api/pages/charts/interval-bar.ts'

it('puts 0 in the middle, and equal skills at equal places', () => {
  expect([-0.5, -0.25, 0, 0.25, 0.5].map(barX)).toEqual([5, 32.5, 60, 87.5, 115])
})

it('says its numbers', () => {
  const bar = intervalBar(0.203056, { lower: -0.035754, upper: 0.270357 }).text
  expect(bar).toContain('<title>skill +0.203, between −0.036 and +0.270</title>')
  expect(bar).toContain('d="M56.1 8H89.7"')
  expect(bar).not.toContain('beyond')
})

it('ends in an arrow where the interval goes on', () => {
  const bar = intervalBar(-0.7, { lower: -1.2, upper: 0.6 }).text
  expect(bar.match(/class="beyond"/g)).toHaveLength(2)
  expect(bar).toContain('cx="5"')
})

it('has only a dot without an interval', () => {
  expect(intervalBar(0, null).text).not.toContain('span')
})
