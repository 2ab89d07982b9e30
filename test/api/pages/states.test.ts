// What the landing page and the leaderboard say in each state of the service.
import { describe, expect, test } from 'vitest'
import * as examples from '../../../api/openapi/examples.ts'
import { type LandingView, landingPage } from '../../../api/pages/landing.ts'
import { type LeaderboardView, leaderboardPage } from '../../../api/pages/leaderboard.ts'
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import type { ReleaseManifest } from '../../../schemas/manifests.ts'
import type { LeaderboardFile } from '../../../schemas/payloads.ts'
import { spaced, textOf } from '../../support/http/page-text.ts'

const SITE = { environment: 'production', publicUrl: undefined } as const
const RULES = METHODOLOGY.parameters
const NEXT = new Date('2026-03-01T12:15:00.000Z')
const MANIFEST = examples.currentRelease as unknown as ReleaseManifest
const { next_cursor: _cursor, ...file } = examples.leaderboardPage
const FILE = file as unknown as LeaderboardFile
const RANKED = FILE.entries[0]!
const AWAY = '01955c3a-0000-7000-8000-00000000a0a0'
const UNRANKED: LeaderboardFile['entries'][number] = {
  ...RANKED,
  name: 'early',
  rank: null,
  rank_interval: null,
  skill: null,
  skill_interval: null,
  board_interval: null,
  contested_questions: 12,
}

describe('the landing page', () => {
  const said = (over: Partial<LandingView>) =>
    textOf(
      landingPage({
        site: SITE,
        manifest: MANIFEST,
        leaders: { entityType: 'agent', entries: [RANKED] },
        rules: RULES,
        nextReleaseAt: NEXT,
        isSigned: true,
        isSandboxSeeded: false,
        ...over,
      }),
    )

  test('shows only those who are ranked, five at most', () => {
    const entries = [...Array.from({ length: 7 }, () => RANKED), UNRANKED]
    expect(said({ leaders: { entityType: 'agent', entries } }).match(/my-agent …/g)).toHaveLength(5)
    expect(said({ leaders: { entityType: 'agent', entries } })).not.toContain('early')
  })

  test('shows those of the first pool alone', () => {
    const entries = [RANKED, { ...RANKED, name: 'far away', pool: AWAY }]
    expect(said({ leaders: { entityType: 'agent', entries } })).not.toContain('far away')
  })

  test('says that nobody is ranked', () => {
    expect(said({ leaders: { entityType: 'agent', entries: [UNRANKED] } })).toContain('ranks nobody yet')
  })

  test('of an empty store keeps the ways to take part, and says when there will be something', () => {
    const text = said({ manifest: undefined, leaders: { entityType: 'agent', entries: [] } })
    expect(text).toContain('Nothing has been scored yet. The next release is due at 2026-03-01 12:15 UTC.')
    expect(text).toContain('Submit forecasts')
    expect(text).not.toContain('try it there now')
  })

  test('of an empty store leads into the sandbox where that is seeded, but not from the sandbox itself', () => {
    const empty = { manifest: undefined, isSandboxSeeded: true, nextReleaseAt: undefined }
    expect(said(empty)).toContain('try it there now')
    expect(said({ ...empty, site: { ...SITE, environment: 'sandbox' } })).not.toContain('try it there now')
  })

  test('does not speak of signatures where nothing is signed', () => {
    expect(said({})).toContain('scored by one published method, and signed.')
    expect(said({ isSigned: false })).toContain(
      'recorded before the outcome and scored by one published method.',
    )
  })
})

describe('the leaderboard', () => {
  const made = (over: Partial<LeaderboardView>) =>
    leaderboardPage({
      site: SITE,
      entityType: 'agent',
      file: FILE,
      pageNumber: 1,
      pages: 1,
      rules: RULES,
      poolBefore: undefined,
      nextReleaseAt: NEXT,
      ...over,
    })
  const said = (over: Partial<LeaderboardView>) => spaced(textOf(made(over)))

  test('puts those of another pool under a heading of their own', () => {
    const [first, other] = [RANKED, { ...RANKED, name: 'far away', pool: AWAY }]
    const words =
      /Another pool No chain of common questions ties it to the one above, so its ranks start anew. .* far away/
    const entries = [first, other]
    expect(said({ file: { ...FILE, entries } })).toMatch(words)
    expect(said({ file: { ...FILE, entries: [first] } })).not.toContain('Another pool')
    const [, names] = made({ file: { ...FILE, entries } }).text.split('Another pool')
    expect(names).toContain(`aria-label="Ranked agents of the pool ${AWAY}"`)
  })

  test('begins a page with such a heading only where its pool is not that of the page before', () => {
    const away = { ...FILE, entries: [{ ...RANKED, pool: AWAY }] }
    expect(said({ file: away, pageNumber: 2, poolBefore: RANKED.pool })).toContain('Another pool')
    expect(said({ file: away, pageNumber: 2, poolBefore: AWAY })).not.toContain('Another pool')
  })

  test('has bars of the board, whatever the level of each entity', () => {
    const text = said({
      file: { ...FILE, entries: [{ ...RANKED, board_interval: { lower: 0.1, upper: 0.3 } }] },
    })
    expect(text).toContain('+0.100 to +0.300')
    expect(text).not.toContain('+0.176 to +0.365')
  })

  test('shows those without a rank below, with how many questions they have of those they need', () => {
    const text = said({ file: { ...FILE, entries: [RANKED, UNRANKED] } })
    expect(text).toMatch(/my-agent .* Not ranked yet .* early .* 12 of 25/)
  })

  test('says so on a page of those without a rank alone, and where a release has nobody', () => {
    expect(said({ file: { ...FILE, entries: [UNRANKED] } })).toContain('None of these agents is ranked.')
    expect(said({ file: { ...FILE, entries: [] } })).toContain('This release has no agents.')
  })

  test('before the first release says when it is due', () => {
    expect(said({ file: undefined })).toContain('The next release is due at 2026-03-01 12:15 UTC.')
    expect(made({ file: undefined }).text).toContain('noindex')
  })

  test('leads to the pages before and after', () => {
    const { text } = made({ pageNumber: 2, pages: 3 })
    expect(text).toContain('<a rel="prev" href="/view/agents">')
    expect(text).toContain('<a rel="next" href="/view/agents?page=3">')
    expect(made({ pageNumber: 3, pages: 3 }).text).not.toContain('rel="next"')
    expect(made({}).text).not.toContain('pager')
  })
})
