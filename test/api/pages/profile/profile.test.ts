// What every profile holds: the numbers of its payloads, names as text, and what it takes to check and to
// show it.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Html } from '../../../../api/pages/html.ts'
import { profilePage } from '../../../../api/pages/profile/profile.ts'
import { entityQuestionsPage } from '../../../../api/pages/profile/questions.ts'
import type { Payloads } from '../../../../api/pages/profile/subject.ts'
import { MEASURED, requirementsTable } from '../../../../api/pages/profile/title.ts'
import { METHODOLOGY } from '../../../../pipeline/scoring/methodology.ts'
import { decideTitle } from '../../../../pipeline/scoring/title.ts'
import { textOf } from '../../../support/http/page-text.ts'
import { SUBJECT, profileIn } from '../../../support/worlds/profile-world.ts'

const certified = profileIn({ questions: 130, error: 0, peersKnow: 0, publicUrl: 'https://example.org' })
const page = profilePage(certified)

it('shows every number of its payloads', () => {
  const text = textOf(page)
  const { metrics, rankings, advanced_metrics: advanced } = certified.published
  const numbers = Object.entries({ ...rankings, ...metrics, ...advanced }).flatMap(([name, value]) =>
    name === 'calibration_curve' || name === 'corp' ? [] : numbersIn(value),
  )
  expect(numbers.length).toBeGreaterThan(40)
  for (const number of numbers) {
    const written = Number.isInteger(number) ? String(Math.abs(number)) : Math.abs(number).toFixed(6)
    expect(text).toContain(written)
  }
})

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

it('ends its running skill at the published one', () => {
  const { skill, interval } = certified.running.at(-1)!
  const { metrics } = certified.published
  expect(skill).toBeCloseTo(metrics.skill!, 6)
  expect(interval!.lower).toBeCloseTo(metrics.skill_interval!.lower, 6)
  expect(interval!.upper).toBeCloseTo(metrics.skill_interval!.upper, 6)
})

it('has the bytes and the signature of its verification, and the whole address of its badge', () => {
  const payload = /<pre id="payload">([^<]*)<\/pre>/.exec(page.text)![1]!
  expect(payload.replaceAll('&quot;', '"')).toBe(certified.verification.text)
  expect(page.text).toContain(`<code id="signature">${certified.verification.signature}</code>`)
  const id = '01a20012-a424-73ad-bf0a-2c0410e39446'
  expect(textOf(page)).toContain(
    `[![forecasts: certified +0.44 \\[+0.09, +0.79\\] (May 2026)](https://example.org/agents/${id}/badge.svg)](https://example.org/view/agents/${id})`,
  )
  expect(page.text).toContain('alt="forecasts: certified +0.44 [+0.09, +0.79] (May 2026)"')
})

it.each([
  ['signature', 'proof', 'secret'],
  ['proofPath', 'secret', 'proof'],
] as const)('without a %s offers the check of the %s alone', (missing, offered, absent) => {
  const { text } = profilePage({
    ...certified,
    verification: { ...certified.verification, [missing]: undefined },
  })
  expect(text).toContain(`data-check="${offered}"`)
  expect(text).not.toContain(`data-check="${absent}"`)
  expect(text.includes('This service does not sign its answers.')).toBe(missing === 'signature')
})

it('offers no check where nothing is signed and there is no public log', () => {
  const { text } = profilePage({
    ...certified,
    verification: { text: '{}', signature: undefined, proofPath: undefined },
  })
  expect(text).not.toContain('<form class="panel"')
  expect(text).not.toContain('/verify.js')
})

it.each([
  ['markup', '<script>alert(1)</script>'],
  ['an attribute', '"onload=alert(1) x="'],
  ['a change of direction', 'crow\u202eworc'],
  ['two hundred wide letters', 'W'.repeat(200)],
])('shows %s as text wherever somebody names something', (_, name) => {
  const profile = profileIn({
    questions: 30,
    facts: { name, model_type: name, organization_name: name, owner_id: name },
    titleOf: () => name,
  })
  const pages = [
    profilePage(profile),
    entityQuestionsPage({ ...profile, scores: profile.scores.toReversed(), pageNumber: 1, order: 'newest' }),
  ]
  for (const { text } of pages) {
    expect(text).not.toContain('<script>alert')
    const markup = text.replace(/<script type="application\/ld\+json">.*?<\/script>/, '')
    expect(markup).not.toContain('"onload')
    const escaped = name.replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
    expect(text).toContain(`<bdi>${escaped}</bdi>`)
    const body = text
      .slice(text.indexOf('<body>'))
      .replaceAll(/ href="[^"]*"/g, '')
      .replace(/<pre id="payload">.*?<\/pre>/, '')
    const inFrames = body.replaceAll(`<bdi>${escaped}</bdi>`, '').replaceAll(`\u2068${escaped}\u2069`, '')
    expect(inFrames).not.toContain(escaped)
  }
})

const interval = fc.option(
  fc
    .tuple(fc.double({ min: -1, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([lower, width]) => ({ lower, upper: lower + width, level: 0.95 })),
)
const amount = fc.oneof(fc.double({ min: 0, max: 5, noNaN: true }), fc.constantFrom(0, 0.999999, 1))
const skill = fc.option(
  fc.oneof(fc.double({ min: -1, max: 1, noNaN: true }), fc.constantFrom(0.019999, 0.02)),
)
const questions = fc.oneof(fc.nat(200), fc.constantFrom(24, 25, 49, 50))
const grounds = fc.record({
  contested_questions: questions,
  priced_questions: fc.oneof(fc.constant(0), questions),
  evidence: amount,
  coverage: fc.option(
    fc.oneof(fc.double({ min: 0, max: 0.75, noNaN: true }), fc.constantFrom(0.199999, 0.2)),
  ),
  skill,
  skill_interval: interval,
  median_skill: skill,
  median_skill_interval: interval,
  market_skill: skill,
  market_skill_interval: interval,
  voice_rule: fc.constantFrom('recorded' as const, 'everyone' as const),
})

/** The last title whose rows in the table, and those of all before it, say that they are met. */
function titleBy(verification: object): string {
  const { text } = requirementsTable({ verification } as Payloads, METHODOLOGY.parameters)
  const missed = text
    .split('<tbody>')
    .slice(1)
    .findIndex((rows) => rows.includes('class="no"'))
  return ['none', 'measured', 'certified'].at(missed)!
}

it('says of each title what decides it', () => {
  fc.assert(
    fc.property(grounds, (all) => {
      expect(titleBy(all)).toBe(decideTitle(METHODOLOGY, all).title)
    }),
  )
})

it('states the error rates that bench/notes/method.md has', () => {
  const measured = readFileSync(new URL('../../../../bench/notes/method.md', import.meta.url), 'utf8')
  const row = (who: string) => new RegExp(`\\| ${who} +\\| ([^|]*\\S) +\\|`).exec(measured)?.[1]
  expect([
    row('exactly as good as the average of 20 others'),
    row('an owner of 5, of 20 agents as good as their peers'),
  ]).toEqual([MEASURED.ever.result, MEASURED.owner.result])
  expect(MEASURED.owner.agents).toBe(5)
})

it('says on a page of its questions which they are', () => {
  const profile = profileIn({ questions: 130 })
  const newest = profile.scores.toReversed()
  const second = textOf(
    entityQuestionsPage({ ...profile, scores: newest.slice(100), pageNumber: 2, order: 'newest' }),
  )
  expect(second).toContain('101 to 130 of 130, newest first.')
  expect(second).toContain('← Page before Page 2 of 2')
  const none = profileIn({ questions: 0 })
  expect(textOf(entityQuestionsPage({ ...none, pageNumber: 1, order: 'newest' }))).toContain(
    'No question has an outcome',
  )
})

const certificate = {
  name: 'Certified forecaster',
  issuerName: 'example.org',
  validFrom: '2026-05-13T00:00:00.000Z',
  validUntil: '2026-08-11T00:00:00.000Z',
}

/** The data in a page, as a browser finds it. */
function dataIn({ text }: Html): { mainEntity: Record<string, unknown> } & Record<string, unknown> {
  const [, json, ...others] = /<script type="application\/ld\+json">([^]*?)<\/script>/i.exec(text)!
  expect(others).toEqual([])
  return JSON.parse(json!) as ReturnType<typeof dataIn>
}

describe('the data for search engines', () => {
  it('of a holder names the credential, with whole addresses', () => {
    const profile = profileIn({ questions: 130, error: 0, peersKnow: 0, publicUrl: 'https://example.org' })
    expect(dataIn(profilePage({ ...profile, certificate }))).toEqual({
      '@context': 'https://schema.org',
      '@type': 'ProfilePage',
      url: `https://example.org/view/agents/${SUBJECT}`,
      dateModified: profile.published.verification.as_of,
      mainEntity: {
        '@type': 'SoftwareApplication',
        url: `https://example.org/view/agents/${SUBJECT}`,
        identifier: SUBJECT,
        name: 'crow',
        hasCredential: {
          '@type': 'EducationalOccupationalCredential',
          name: 'Certified forecaster',
          credentialCategory: 'certification',
          url: `https://example.org/agents/${SUBJECT}/credential`,
          recognizedBy: { '@type': 'Organization', name: 'example.org', url: 'https://example.org/' },
          validFrom: certificate.validFrom,
          expires: certificate.validUntil,
        },
      },
    })
  })

  it('without a certificate or the address of the service leaves them out', () => {
    const { mainEntity, ...rest } = dataIn(profilePage(profileIn({ questions: 30, kind: 'forecaster' })))
    expect(rest['url']).toBeUndefined()
    expect(Object.keys(mainEntity)).toEqual(['@type', 'identifier', 'name'])
    expect(mainEntity['@type']).toBe('Person')
  })

  it.each(['</script><script>alert(1)</script>', '<!--<script>', '"\\', ']]>'])(
    'keeps the name %s as text',
    (name) => {
      const shown = profilePage(profileIn({ questions: 30, facts: { name } }))
      expect(dataIn(shown).mainEntity['name']).toBe(name)
      expect(shown.text.match(/<script type="application\/ld\+json">.*/)![0]).not.toMatch(
        /<(?!script type|\/script>$)/,
      )
    },
  )
})

it('links the credential and the files that carry it for a holder alone', () => {
  const profile = profileIn({ questions: 130, error: 0, peersKnow: 0 })
  const links = [
    `href="/agents/${SUBJECT}/credential"`,
    `href="/agents/${SUBJECT}/badge.svg" download="${SUBJECT}.svg"`,
    '<link rel="alternate" type="application/vc"',
  ]
  const [held, none] = [profilePage({ ...profile, certificate }).text, profilePage(profile).text]
  for (const link of links) {
    expect(held).toContain(link)
    expect(none).not.toContain(link)
  }
})
