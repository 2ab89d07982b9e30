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
