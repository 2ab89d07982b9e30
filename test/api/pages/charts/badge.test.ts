import { expect, it } from 'vitest'
import {
  type BadgeSubject,
  type Verification,
  badgeJson,
  badgeOf,
  badgeSvg,
} from '../../../../api/pages/charts/badge.ts'
import * as examples from '../../../../api/openapi/examples.ts'
import type { EntityType } from '../../../../schemas/tables.ts'
import type { Environment } from '../../../../schemas/values.ts'

const shared = {
  ...examples.PUBLICATIONS.agent.verification,
  skill: 0.203056,
  skill_interval: { lower: 0.135754, upper: 0.270357, level: 0.95 },
}
const certified = { ...shared, certification: 'certified' } as BadgeSubject
const early = { ...shared, certification: 'none', skill: null, contested_questions: 12 } as Verification

function of(subject: BadgeSubject, environment: Environment = 'production', kind: EntityType = 'agent') {
  return badgeOf(environment, kind, subject, 25)
}

it('says the title, the skill and its interval', () => {
  expect(badgeJson(of(certified))).toEqual({
    schemaVersion: 1,
    label: 'forecasts',
    message: 'certified +0.20 [+0.14, +0.27]',
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

it('is blue for who is measured', () => {
  const skills = { skill: -0.021, skill_interval: null }
  const subject = { ...shared, ...skills, certification: 'measured' } as BadgeSubject
  expect(of(subject, 'production', 'forecaster')).toMatchObject({
    message: 'measured −0.02',
    color: '#2458a8',
  })
})

const RETIRED = { retired_at: '2026-02-01T00:00:00.000Z' }

it.each<[string, object, EntityType, string]>([
  ['imported', { witnessed_share: 0 }, 'forecaster', 'measured, imported +0.20'],
  ['partly imported', { witnessed_share: 0.99 }, 'forecaster', 'measured, imported +0.20 [+0.14, +0.27]'],
  ['retired', RETIRED, 'agent', 'measured, retired +0.20'],
])('says that a record is %s', (_, facts, kind, message) => {
  const subject = { ...shared, certification: 'measured', ...facts } as BadgeSubject
  expect(of(subject, 'production', kind).message).toContain(message)
})

it('keeps such a mark where there is no rank, and has none without a settled question', () => {
  const messageOf = (witnessed_share: number | null) => of({ ...early, witnessed_share }).message
  expect(messageOf(0.5)).toBe('not ranked (12 of 25), imported')
  expect(messageOf(null)).toBe('not ranked (12 of 25)')
})

it('is striped in the sandbox, where its label says so', () => {
  const badge = of(certified, 'sandbox')
  expect(badge.label).toBe('forecasts (sandbox)')
  expect(badgeSvg(badge).text).toContain('url(#stripes)')
  expect(badgeSvg(of(certified)).text).not.toContain('stripes')
})

it.each<[string, BadgeSubject, Environment]>([
  ['certified', certified, 'production'],
  ['not-ranked', early, 'production'],
  ['sandbox', certified, 'sandbox'],
  ['unknown', 'unknown', 'production'],
])('is drawn as in badge-%s.svg', async (name, subject, environment) => {
  const file = `../../../cases/pages/badge-${name}.svg`
  await expect(badgeSvg(of(subject, environment)).text).toMatchFileSnapshot(file)
})
