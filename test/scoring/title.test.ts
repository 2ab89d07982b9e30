// Titles, on both sides of every boundary.
import { describe, expect, test } from 'vitest'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { type TitleGrounds, decideTitle } from '../../pipeline/scoring/title.ts'
import { titleOf as plainly } from '../support/plain/board.ts'

const above = (lower: number) => ({ lower, upper: 1, level: 0.95 })

const CERTIFIED: TitleGrounds = {
  contested_questions: 50,
  priced_questions: 0,
  evidence: 1,
  coverage: 0.2,
  skill: 0.02,
  skill_interval: above(0.000001),
  median_skill: 0.02,
  median_skill_interval: above(0.000001),
  market_skill: null,
  market_skill_interval: null,
  voice_rule: 'recorded',
}
const PRICED = { priced_questions: 1, market_skill: 0.02, market_skill_interval: above(0.000001) }

describe('a title', () => {
  test.each<[string, Partial<TitleGrounds>, string]>([
    ['with just enough of everything', {}, 'certified'],
    ['with 24 questions', { contested_questions: 24 }, 'none'],
    ['with 25 questions', { contested_questions: 25 }, 'measured'],
    ['with 49 questions', { contested_questions: 49 }, 'measured'],
    ['with too little evidence', { evidence: 0.999999 }, 'measured'],
    ['with too little coverage', { coverage: 0.199999 }, 'measured'],
    ['with too small a skill', { skill: 0.019999 }, 'measured'],
    ['with an interval that ends at 0', { skill_interval: above(0) }, 'measured'],
    ['without an interval', { skill_interval: null }, 'measured'],
    ['with too small a median skill', { median_skill: 0.019999 }, 'measured'],
    ['with an interval of the median skill that ends at 0', { median_skill_interval: above(0) }, 'measured'],
    ['with a price', PRICED, 'certified'],
    ['with too small a market skill', { ...PRICED, market_skill: 0.019999 }, 'measured'],
    [
      'with an interval of the market skill that ends at 0',
      { ...PRICED, market_skill_interval: above(0) },
      'measured',
    ],
    ['where everyone is a voice', { voice_rule: 'everyone' }, 'measured'],
    [
      'where everyone is a voice, with 49 prices',
      { ...PRICED, priced_questions: 49, voice_rule: 'everyone' },
      'measured',
    ],
    [
      'where everyone is a voice, with 50 prices',
      { ...PRICED, priced_questions: 50, voice_rule: 'everyone' },
      'certified',
    ],
  ])('%s', (_, changes, expected) => {
    const grounds = { ...CERTIFIED, ...changes }
    const { title, because } = decideTitle(METHODOLOGY, grounds)
    expect(title).toBe(expected)
    expect(because).toMatch(/\S/)
    expect(plainly(grounds, grounds.voice_rule)).toBe(expected)
  })
})
