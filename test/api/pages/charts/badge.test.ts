import { expect, it } from 'vitest'
import { type BadgeSubject, badgeJson, badgeOf, badgeSvg } from '../../../../api/pages/charts/badge.ts'
import * as examples from '../../../../api/openapi/examples.ts'
import type { EntityType } from '../../../../schemas/tables.ts'
import type { Environment } from '../../../../schemas/values.ts'

const shared = {
  ...examples.PUBLICATIONS.agent.verification,
  skill: 0.203056,
  skill_interval: { lower: 0.135754, upper: 0.270357, level: 0.95 },
}
const expert = { ...shared, certification: 'expert' } as BadgeSubject
const early = { ...shared, certification: 'none', skill: null, contested_questions: 12 } as BadgeSubject

function of(subject: BadgeSubject, environment: Environment = 'production', kind: EntityType = 'agent') {
  return badgeOf(environment, kind, subject, 25)
}

it('says the title, the skill and its interval', () => {
  expect(badgeJson(of(expert))).toEqual({
    schemaVersion: 1,
    label: 'forecasts',
    message: 'expert +0.20 [+0.14, +0.27]',
    color: '#1a7f37',
  })
})

it.each<[string, BadgeSubject, EntityType, string]>([
  ['too few questions', early, 'agent', 'not ranked (12 of 25)'],
  ['no release yet', 'unreleased', 'agent', 'in the next release'],
  ['nobody', 'unknown', 'forecaster', 'unknown forecaster'],
])('is grey for %s', (_, subject, kind, message) => {
  expect(of(subject, 'production', kind)).toMatchObject({ message, color: '#57606a' })
})

it('calls a ranked forecaster without a badge ranked', () => {
  const skills = { skill: -0.021, skill_interval: null }
  const subject = { ...shared, ...skills, certification: 'none' } as BadgeSubject
  expect(of(subject, 'production', 'forecaster')).toMatchObject({ message: 'ranked −0.02', color: '#57606a' })
})

it.each<[string, object, EntityType, string]>([
  ['partly imported', { witnessed_share: 0.99 }, 'forecaster', 'ranked, imported +0.20 [+0.14, +0.27]'],
  ['imported as far as is known', { witnessed_share: null }, 'forecaster', 'ranked, imported +0.20'],
  ['retired', { retired_at: '2026-02-01T00:00:00.000Z' }, 'agent', 'ranked, retired +0.20'],
  [
    'both',
    { witnessed_share: 0, retired_at: '2026-02-01T00:00:00.000Z' },
    'agent',
    'ranked, imported, retired +0.20',
  ],
])('says that a record is %s', (_, facts, kind, message) => {
  const subject = { ...shared, certification: 'none', ...facts } as BadgeSubject
  expect(of(subject, 'production', kind).message).toContain(message)
})

it('keeps such a mark where there is no rank, and has none without a settled question', () => {
  const none = {
    ...shared,
    certification: 'none',
    skill: null,
    witnessed_share: null,
    contested_questions: 0,
  }
  expect(of(none as BadgeSubject).message).toBe('not ranked (0 of 25), imported')
  expect(of({ ...none, resolved_questions: 0 } as BadgeSubject).message).toBe('not ranked (0 of 25)')
})

it('of a release of version 2 of the method has no mark', () => {
  const { witnessed_share: _share, ...older } = shared as Record<string, unknown>
  const subject = { ...older, certification: 'expert', retired_at: undefined } as unknown as BadgeSubject
  expect(of(subject).message).toBe('expert +0.20 [+0.14, +0.27]')
})

it('is striped in the sandbox, where its label says so', () => {
  const badge = of(expert, 'sandbox')
  expect(badge.label).toBe('forecasts (sandbox)')
  expect(badgeSvg(badge).text).toContain('url(#stripes)')
  expect(badgeSvg(of(expert)).text).not.toContain('stripes')
})

it.each<[string, BadgeSubject, Environment]>([
  ['expert', expert, 'production'],
  ['not-ranked', early, 'production'],
  ['sandbox', expert, 'sandbox'],
  ['unknown', 'unknown', 'production'],
])('is drawn as in badge-%s.svg', async (name, subject, environment) => {
  const file = `../../../cases/pages/badge-${name}.svg`
  await expect(badgeSvg(of(subject, environment)).text).toMatchFileSnapshot(file)
})
