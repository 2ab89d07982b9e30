// What a profile says in each state that an entity can be in. One page is a whole golden; of a few others the
// golden is what differs from it. `vitest run -u` writes them anew.
import { expect, it } from 'vitest'
import { profilePage, unreleasedPage } from '../../../../api/pages/profile/profile.ts'
import type { ReplacedOutcome } from '../../../../schemas/manifests.ts'
import { type Circumstances, SUBJECT, profileIn } from '../../../support/worlds/profile-world.ts'
import { differenceFrom, steady } from '../../../support/http/page-goldens.ts'
import { spaced, textOf } from '../../../support/http/page-text.ts'

const FIRST_CLOSE = Date.UTC(2026, 11, 1)
const day = (number: number) => Date.UTC(2026, 0, number)

/** For each state what the page must say, and what it must not. */
const STATES: Record<string, [Circumstances, says: string[], not?: string[]]> = {
  certified: [
    { questions: 130, error: 0, peersKnow: 0 },
    [
      'Certified Its errors were smaller than those of the average, and of the median, of all others at the same moments: luck is very unlikely as the reason. This holds for the questions that it chose to answer.',
      'evidence ≥ 1.00 ✓',
      'lower end of the median skill > 0 ✓',
      'in the pool …',
    ],
    ['✗', 'the market’s price where'],
  ],
  measured: [
    { questions: 29, error: 0.6 },
    [
      'Measured A skill and a place, and nothing proved. Whether it is better than the average of the others, 29 questions do not show yet.',
      '≥ 50 ✗ 29: 21 more shared questions',
    ],
  ],
  worse: [
    { questions: 160, error: 6 },
    ['With luck allowed for, it is worse than the average of the others.'],
  ],
  early: [
    { questions: 12 },
    [
      'No place yet',
      '12 of the 25 shared questions that a place takes. These are early numbers',
      '13 more shared questions',
    ],
  ],
  'one-question': [
    { questions: 1 },
    ['After 1 shared question the skill is', 'one question does not say how sure that is'],
  ],
  uncontested: [
    { questions: 8, peers: 3 },
    ['8 settled questions, none of them shared', 'not shared'],
    ['Skill, question by question'],
  ],
  waiting: [
    { questions: 0, facts: { open_forecasts: 3, next_close_at: FIRST_CLOSE } },
    ['3 forecasts are waiting. The first of their questions closes 2026-12-01 00:00 UTC.'],
    ['Question by question', 'called 70 % likely'],
  ],
  idle: [{ questions: 0, facts: { last_forecast_at: null } }, ['No forecast was made yet.']],
  late: [{ questions: 0 }, ['No forecast is scored, and none is waiting.']],
  everyone: [
    { questions: 130, hasOwners: false, error: 0, peersKnow: 0 },
    [
      'everyone is measured against everyone',
      'With luck allowed for, it is better than the average of the others; what a certificate takes besides is below.',
      '50 more priced questions',
    ],
  ],
  imported: [
    { questions: 130, imported: 1, kind: 'forecaster', error: 0, peersKnow: 0 },
    [
      'The operator imported all of these forecasts: this service did not see them being made.',
      'Certified Their errors were smaller',
    ],
  ],
  'forecaster-measured': [
    { questions: 40, kind: 'forecaster', error: 2 },
    ['Whether they are better than the average of the others, 40 questions do not show yet.'],
  ],
  pending: [
    { questions: 30, pending: 3 },
    [
      '3 questions have an outcome and have not closed yet: each counts from its close on.',
      'on 30 shared questions, judged for 49 % of their time',
      'not closed yet',
      'All 33 questions',
    ],
  ],
  'one-pending': [
    { questions: 0, pending: 1 },
    ['Nothing settled yet', '1 question has an outcome and has not closed yet: it counts from its close on.'],
    ['Skill, question by question'],
  ],
  overdue: [
    { questions: 30, facts: { overdue_forecasts: 1200 } },
    ['Of the questions answered here, 1,200 are overdue: they closed without an outcome.'],
  ],
  'one-overdue': [
    { questions: 0, facts: { overdue_forecasts: 1 } },
    ['Of the questions answered here, 1 is overdue: it closed without an outcome.'],
  ],
  retired: [
    { questions: 30, error: 0.6, facts: { retired_at: day(30) } },
    [
      'Retired on 2026-01-30: no more forecasts are made, and there is no place. The record stays.',
      'Measured A skill, and nothing proved. Whether',
      'Place among agents – retired: places are for those who take part',
    ],
    ['to go', 'A skill and a place'],
  ],
  'retired early': [
    { questions: 12, facts: { retired_at: day(12) } },
    ['retired: places are for those who take part'],
    ['more shared questions to go'],
  ],
  silent: [
    { questions: 120, facts: { last_forecast_at: day(3) } },
    ['Silent since 2026-01-03, for more than 90 days'],
  ],
  sandbox: [
    { questions: 130, error: 0, peersKnow: 0, environment: 'sandbox' },
    ['Sandbox: simulated questions.'],
  ],
}

it.each(Object.entries(STATES))('says in the state %s what it is', (_, [circumstances, says, not = []]) => {
  const text = textOf(profilePage(profileIn(circumstances)))
  for (const words of says) expect(text).toContain(words)
  for (const words of not) expect(text).not.toContain(words)
})

const pageOf = (state: string) => steady(profilePage(profileIn(STATES[state]![0])).text)
const goldenOf = (state: string, form: string) => `../../../cases/pages/profile-${state}.${form}`

it('shows a certified agent as its golden has it', async () => {
  await expect(pageOf('certified')).toMatchFileSnapshot(goldenOf('certified', 'html'))
})

/** For each further golden what stands for what in every line of the whole one. */
const GOLDENS: Record<string, [RegExp, string][]> = {
  early: [],
  waiting: [],
  imported: [
    [/agent/g, 'forecaster'],
    [/Agent/g, 'Forecaster'],
    [/crow/g, 'A. Forecaster'],
  ],
  sandbox: [[/(?<==")\//g, '/sandbox/']],
}

it.each(Object.entries(GOLDENS))(
  'shows the state %s as its golden has it',
  { tags: ['slow'] },
  async (state, swaps) => {
    const whole = swaps.reduce((text, [from, to]) => text.replaceAll(from, to), pageOf('certified'))
    await expect(differenceFrom(whole, pageOf(state))).toMatchFileSnapshot(goldenOf(state, 'txt'))
  },
)

it('shows a record that was partly seen', () => {
  const profile = profileIn({ questions: 30, kind: 'forecaster' })
  const metrics = { ...profile.published.metrics, witnessed_share: 0.4 }
  const published = { ...profile.published, metrics } as typeof profile.published
  expect(spaced(textOf(profilePage({ ...profile, published })))).toContain(
    'This service saw the forecasts being made on 40 % of the questions. The operator imported others.',
  )
})

it('says where the last forecast was withdrawn', () => {
  const profile = profileIn({ questions: 30 })
  const scores = [...profile.scores.slice(0, -1), { ...profile.scores.at(-1)!, closing_probability: null }]
  expect(textOf(profilePage({ ...profile, scores }))).toMatch(
    /coin 29 show heads\? (yes|no) withdrawn (the same|\d\.\d{3} (better|worse))/,
  )
})

it('is indexed only with a rank, and outside of the sandbox', () => {
  const isIndexed = (circumstances: Circumstances) =>
    !profilePage(profileIn(circumstances)).text.includes('<meta name="robots" content="noindex">')
  expect(isIndexed({ questions: 30 })).toBe(true)
  expect(isIndexed({ questions: 12 })).toBe(false)
  expect(isIndexed({ questions: 30, facts: { retired_at: day(30) } })).toBe(false)
  expect(isIndexed({ questions: 30, environment: 'sandbox' })).toBe(false)
})

it('names what a release corrected', () => {
  const profile = profileIn({ questions: 30 })
  const change = (index: number, from: string | null, to: string | null): ReplacedOutcome => ({
    questionId: profile.scores[index]!.question_id,
    from,
    to,
  })
  const elsewhere = { ...change(0, 'no', 'yes'), questionId: SUBJECT }
  const shown = (replaced: ReplacedOutcome[]) => textOf(profilePage({ ...profile, replaced }))
  expect(shown([change(3, 'no', 'yes'), elsewhere])).toContain(
    'Release 12 replaces the outcome of one of these questions. Will coin 3 show heads?: yes, no longer no.',
  )
  expect(shown([change(3, 'no', 'yes'), change(4, null, null)])).toContain(
    'Release 12 replaces the outcome of 2 of these questions: Will coin 3 show heads?: yes, no longer no Will coin 4 show heads?: yes at another time',
  )
  expect(shown([change(3, 'no', 'open')])).toContain(
    'Will coin 3 show heads?: unresolved again, no longer no.',
  )
  expect(shown([elsewhere])).not.toContain('replaces')
})

it('says of an agent in no release yet that it needs a forecast, and when the next release is due, and is not indexed', () => {
  const agent = { agent_id: SUBJECT, registered_at: '2026-01-01T10:00:00.000Z' }
  const site = { environment: 'production', publicUrl: undefined } as const
  const page = unreleasedPage(site, agent, new Date('2026-01-01T12:15:00.000Z'))
  expect(textOf(page)).toContain('was registered at 2026-01-01 10:00 UTC. Its record is in the first results')
  expect(textOf(page)).toContain('The next release is due at 2026-01-01 12:15 UTC at the earliest.')
  expect(page.text).toContain('noindex')
  expect(spaced(textOf(unreleasedPage(site, agent, undefined)))).not.toContain('due')
})
