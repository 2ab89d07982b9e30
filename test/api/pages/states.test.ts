// What the landing page and the leaderboard say in each state of the service.
import { describe, expect, test } from 'vitest'
import * as examples from '../../../api/openapi/examples.ts'
import { type LandingView, landingPage } from '../../../api/pages/landing.ts'
import { type LeaderboardView, leaderboardPage } from '../../../api/pages/leaderboard.ts'
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import type { ReleaseManifest } from '../../../schemas/manifests.ts'
import type { ReferenceRow } from '../../../schemas/references.ts'
import type { BoardPage, NamedEntry } from '../../../api/pages/ranking.ts'
import { spaced, textOf } from '../../support/http/page-text.ts'
import { uuidOf } from '../../support/worlds/world.ts'

const SITE = { environment: 'production', publicUrl: undefined } as const
const RULES = METHODOLOGY.parameters
const NEXT = new Date('2026-03-01T12:15:00.000Z')
const MANIFEST = examples.currentRelease as unknown as ReleaseManifest
const { next_cursor: _cursor, ...file } = examples.leaderboardPage
const FILE = file as unknown as BoardPage
const RANKED = FILE.entries[0]!
const BOARD = { pool: RANKED.pool!, size: 14, first: [RANKED] }
const ALONE = { ...BOARD, size: 1 }
const AWAY = '01955c3a-0000-7000-8000-00000000a0a0'
const FAR = { ...RANKED, name: 'far away', pool: AWAY, rank_interval: { lower: 1, upper: 1 } }
const UNRANKED: NamedEntry = {
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
        leaders: { entityType: 'agent', entries: [RANKED], board: BOARD },
        rules: RULES,
        nextReleaseAt: NEXT,
        isSigned: true,
        isSandboxSeeded: false,
        ...over,
      }),
    )

  test('shows only those who are ranked, five at most', () => {
    const entries = [...Array.from({ length: 7 }, () => RANKED), UNRANKED]
    expect(
      said({ leaders: { entityType: 'agent', entries, board: BOARD } }).match(/my-agent …/g),
    ).toHaveLength(5)
    expect(said({ leaders: { entityType: 'agent', entries, board: BOARD } })).not.toContain('early')
  })

  test('says who runs the service, where that is set', () => {
    const about = { serviceName: 'Who knew?', operatorName: 'Example', contactUrl: 'mailto:a@example.org' }
    expect(said({ site: { ...SITE, about } })).toContain('Run by Example · contact')
    expect(said({})).not.toContain('Run by')
  })

  test('shows those of the first pool alone', () => {
    const entries = [RANKED, { ...RANKED, name: 'far away', pool: AWAY }]
    expect(said({ leaders: { entityType: 'agent', entries, board: BOARD } })).not.toContain('far away')
  })

  test('says that nobody is ranked', () => {
    expect(said({ leaders: { entityType: 'agent', entries: [UNRANKED], board: undefined } })).toContain(
      'Nobody has a place in release 214 yet: that takes 25 shared questions',
    )
  })

  test('of an empty store keeps the ways to take part, and says when there will be something', () => {
    const text = said({ manifest: undefined, leaders: { entityType: 'agent', entries: [], board: BOARD } })
    expect(text).toContain(
      'Nothing has been scored yet. The next release is due at 2026-03-01 12:15 UTC at the earliest.',
    )
    expect(text).toContain('Submit forecasts')
    expect(text).not.toContain('try it there now')
  })

  test('of an empty store leads into the sandbox where that is seeded, but not from the sandbox itself', () => {
    const empty = { manifest: undefined, isSandboxSeeded: true, nextReleaseAt: undefined }
    expect(said(empty)).toContain('try it there now')
    expect(said({ ...empty, site: { ...SITE, environment: 'sandbox' } })).not.toContain('try it there now')
  })

  test('does not speak of signatures where nothing is signed', () => {
    expect(said({})).toMatch(/By one published method each gets a signed record.*It is signed\./s)
    expect(said({ isSigned: false })).toContain('By one published method each gets a record')
    expect(said({ isSigned: false })).not.toContain('signed')
  })

  test('says that forecasts are recorded before the outcome only of agents, whose forecasts it takes', () => {
    const of = (agents: number, forecasters: number) =>
      said({ manifest: { ...MANIFEST, counts: { ...MANIFEST.counts, agents, forecasters } } })
    expect(of(3, 0)).toContain(
      'Agents, which are programs, say how likely it is that things happen. What they say is recorded before the outcome',
    )
    expect(of(0, 9)).toContain(
      'People say how likely it is that things happen. What they said is brought in by the operator of this service',
    )
    expect(of(0, 9)).not.toContain('before the outcome')
    expect(of(3, 9)).toContain(
      'What agents say is recorded before the outcome, what people said is brought in by the operator of this service',
    )
  })

  test('speaks of simulated questions only if the sandbox has some', () => {
    expect(said({})).not.toContain('simulated')
    expect(said({ isSandboxSeeded: true })).toContain('questions are simulated')
  })

  test('says who leads, and among how many', () => {
    const text = said({ leaders: { entityType: 'agent', entries: [RANKED], board: ALONE } })
    expect(text).toContain('my-agent is the only agent with a place.')
    expect(text).toContain('place of 1 ')
  })
})

describe('the leaderboard', () => {
  const made = (over: Partial<LeaderboardView>) =>
    leaderboardPage({
      site: SITE,
      entityType: 'agent',
      file: FILE,
      isReleased: true,
      pageNumber: 1,
      pages: 1,
      categories: [],
      rules: RULES,
      population: 17,
      boards: [BOARD, { pool: AWAY, size: 2, first: [FAR] }],
      main: BOARD,
      neighbours: {},
      references: [],
      nextReleaseAt: NEXT,
      ...over,
    })
  const said = (over: Partial<LeaderboardView>) => spaced(textOf(made(over)))

  test('puts those of another pool under a heading of their own', () => {
    const [first, other] = [RANKED, FAR]
    const words =
      /Another pool: 2 of 17 agents These answered other questions. Nobody here can be compared with those above, so places start anew. far away leads, and is ahead of the other for sure. place of 2 .* 1 far away/
    const entries = [first, other]
    expect(said({ file: { ...FILE, entries } })).toMatch(words)
    expect(said({ file: { ...FILE, entries: [first] } })).not.toContain('Another pool')
    const [, names] = made({ file: { ...FILE, entries } }).text.split('Another pool')
    expect(names).toContain(`aria-label="Ranked agents of the pool ${AWAY}"`)
  })

  test('says how many have a place, and the places that each may have', () => {
    const at = (rank: number, lower: number, upper: number) => ({
      ...RANKED,
      rank,
      rank_interval: { lower, upper },
    })
    const text = said({ file: { ...FILE, entries: [at(1, 1, 3), at(3, 3, 3)] } })
    expect(text).toMatch(/14 of 17 agents have a place place of 14 /)
    expect(text).toMatch(/ 1–3 my-agent .* 3 my-agent /)
    expect(text).not.toContain('3–3')
  })

  test('shows who made an agent as text', () => {
    const hostile = '<b>model</b>'
    const html = made({ file: { ...FILE, entries: [{ ...RANKED, model_type: hostile }] } }).text
    expect(html).toContain('&lt;b&gt;model&lt;/b&gt;')
    expect(html).not.toContain(hostile)
    expect(said({})).toContain('a language model with search · Example Laboratory')
  })

  test('says who leads on each page, also on one without any of that board', () => {
    const words = 'Nobody leads for sure: my-agent is in front'
    expect(said({})).toContain(words)
    expect(said({ pageNumber: 2, file: { ...FILE, entries: [UNRANKED] }, boards: [] })).toContain(words)
    expect(said({ file: { ...FILE, entries: [UNRANKED] }, boards: [], main: undefined })).toContain(
      'None of these agents has a place yet.',
    )
  })

  test('calls people without a name by the end of the id, once', () => {
    const { agent_id: id, ...rest } = RANKED as NamedEntry & { agent_id: string }
    const entries = [{ ...rest, user_id: id, name: null }] as never
    const end = id.slice(-6)
    const text = said({ entityType: 'forecaster', file: { ...FILE, entries } })
    expect(text.split('place of')[1]!.split(end)).toHaveLength(2)
    expect(text).toContain(`Forecaster …${end}`)
  })

  test('begins a page with such a heading only where its pool is not that of the page before', () => {
    const away = { ...FILE, entries: [{ ...RANKED, pool: AWAY }] }
    expect(said({ file: away, pageNumber: 2, neighbours: { before: RANKED } })).toContain('Another pool')
    expect(said({ file: away, pageNumber: 2, neighbours: { before: FAR } })).not.toContain('Another pool')
  })

  test('shows references where their skills would be, without a place, and says what they are', () => {
    const row = (reference: ReferenceRow['reference'], skill: number): ReferenceRow => ({
      reference,
      entity_type: 'agent',
      pool: RANKED.pool!,
      category: null,
      skill,
      board_interval: { lower: skill - 0.1, upper: skill + 0.1 },
      median_skill: 0,
      market_skill: null,
      evidence: 1,
      contested_questions: 40,
      clusters: 40,
      priced_questions: 0,
    })
    const second = { ...RANKED, rank: 2, agent_id: uuidOf(3, 7), name: 'second', skill: RANKED.skill! - 0.2 }
    const references = [row('always_half', RANKED.skill! - 0.3), row('median', RANKED.skill! - 0.1)]
    const both = { ...FILE, entries: [RANKED, second] }
    const text = said({ file: both, references })
    expect(text).toMatch(
      / my-agent .* – The median ?for comparison .* second .* – Always 50 % ?for comparison /,
    )
    expect(text).toContain('Grey rows take no part and have no place;')
    expect(said({ file: both, references, neighbours: { after: second } })).not.toContain('Always 50')
    expect(said({ file: both })).not.toContain('Grey rows')
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
    expect(text).toMatch(/my-agent .* Not enough questions yet .* early .* 12 of 25/)
  })

  test('shows the retired after the ranked, each with its day beside its name, its title and its skill', () => {
    const place = { rank: null, rank_interval: null, retired_at: '2026-02-01T09:00:00.000Z' }
    const [retired, early] = [
      { ...RANKED, ...place, name: 'gone' },
      { ...UNRANKED, ...place, name: 'gone early' },
    ]
    const text = said({ file: { ...FILE, entries: [RANKED, retired, UNRANKED, early] } })
    expect(text).toMatch(
      /my-agent .* Retired They take part no more .* gone .* Not enough questions yet .* early /,
    )
    expect(text).toMatch(/ gone …\w+✓ certified, retired 2026-02-01 .* \+0\.271 /)
    expect(text).toMatch(/ gone early …\w+✓ certified, retired 2026-02-01 .* – 12 answered 72.% \+7\.0 /)
    expect(said({ file: { ...FILE, entries: [RANKED, UNRANKED] } })).not.toMatch(/retired/i)
    expect(said({ file: { ...FILE, entries: [retired] }, main: undefined })).toContain(
      'None of these agents has a place yet.',
    )
  })

  test('says so where a release has nobody', () => {
    expect(said({ file: { ...FILE, entries: [] } })).toContain('This release has no agents.')
    expect(said({ file: undefined })).toContain('This release has no agents.')
    expect(said({ file: undefined })).not.toContain('Nothing has been scored')
  })

  test('before the first release says when it is due', () => {
    const before = { file: undefined, isReleased: false }
    expect(said(before)).toContain('The next release is due at 2026-03-01 12:15 UTC at the earliest.')
    expect(made(before).text).toContain('noindex')
  })

  test('leads to the pages before and after', () => {
    const { text } = made({ pageNumber: 2, pages: 3 })
    expect(text).toContain('<a rel="prev" href="/view/agents">')
    expect(text).toContain('<a rel="next" href="/view/agents?page=3">')
    expect(made({ pageNumber: 3, pages: 3 }).text).not.toContain('rel="next"')
    expect(made({}).text).not.toContain('pager')
  })
})
