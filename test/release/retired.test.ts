// A retired agent keeps its title and its numbers, and gives its rank to those who still take part: on one
// machine and in stages, from scratch and from the pairs of the release before.
import { beforeAll, expect, test } from 'vitest'
import { retireAgents, unretireAgents } from '../../jobs/agents/agents.ts'
import type { Components } from '../../jobs/components/components.ts'
import { auditRelease } from '../../pipeline/audit/release.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { releasePrefix } from '../../pipeline/store/paths.ts'
import { leaderboardPath } from '../../pipeline/release/files/leaderboards.ts'
import type { LeaderboardFile, ReleaseShard } from '../../schemas/payloads.ts'
import { suiteFolder } from '../support/folder.ts'
import { expectValid } from '../support/json-schema.ts'
import { Clock, SECRET, release, testComponents } from '../support/http/service.ts'
import { contentOf, copyOf, recordIn } from '../support/store-content.ts'
import { stagedRelease } from '../support/staged-release.ts'
import { send } from '../support/tables.ts'
import { submitForecasts } from '../support/worlds/submitted-forecasts.ts'
import { FORECAST_LINES, NOW, forecasterId, importWorld, uuidOf } from '../support/worlds/world.ts'

const LATER = '2026-03-01T13:00:00.000Z'
const folder = await suiteFolder()

/** They forecast as three people do, each of another owner, and so are voices: the best is the first. */
const AGENTS = [0, 2, 5].map((person, number) => ({ id: uuidOf(3, number), as: forecasterId(person) }))
const [FIRST, MIDDLE, LAST] = AGENTS.map(({ id }) => id) as [string, string, string]

const agentRow = (agent_id: string, retired_at: Date | null, recorded_at = NOW) => ({
  agent_id,
  name: `agent ${agent_id.at(-1)}`,
  model_type: 'none',
  organization_name: null,
  owner_id: `owner of ${agent_id.at(-1)}`,
  registered_at: new Date('2026-01-01T00:00:00.000Z'),
  retired_at,
  recorded_at: new Date(recorded_at),
})

/** One release, in which all three take part. */
const board = new MemoryStore()

const on = (store: MemoryStore, at: string): Promise<Components> =>
  testComponents({ store, folder, clock: new Clock(at) })

beforeAll(async () => {
  const components = await on(board, NOW)
  const rows = AGENTS.map(({ id }) => agentRow(id, null))
  await send(board, 'agents', 'a', rows)
  const lines = AGENTS.flatMap(({ id, as }) =>
    FORECAST_LINES.filter((line) => line.includes(as)).map((line) =>
      line.replace(`forecaster,${as}`, `agent,${id}`),
    ),
  )
  await submitForecasts(board, lines)
  await importWorld(components)
  await release(components)
})

function leaderboardIn({ objects }: MemoryStore, number: number): LeaderboardFile {
  const bytes = objects.get(releasePrefix(number) + leaderboardPath('agent', 0))
  return JSON.parse(new TextDecoder().decode(bytes)) as LeaderboardFile
}

function entriesOf(store: MemoryStore, number: number) {
  return leaderboardIn(store, number).entries.map((entry) => {
    if (!('agent_id' in entry)) throw new Error('a person among the agents')
    return entry
  })
}

const standingsIn = (store: MemoryStore, number: number) =>
  entriesOf(store, number).map(({ agent_id, rank, retired_at }) => [agent_id, rank, retired_at])

async function payloadsOf(store: MemoryStore, number: number, agentId: string) {
  const { files } = (await readManifest(store, number))!
  const { path } = files.find((file) => file.path.startsWith('agent/'))!
  const { entities } = recordIn(store, releasePrefix(number) + path) as unknown as ReleaseShard
  const { verification, rankings, metrics } = entities[agentId]!
  return { verification: verification.payload, rankings: rankings.payload, metrics: metrics.payload }
}

async function expectNoFault(store: MemoryStore, number: number): Promise<void> {
  const components = await on(store, LATER)
  using database = await components.openDatabase()
  const { faults } = await auditRelease({ ...components, database, secrets: [SECRET] }, number)
  expect(faults).toEqual([])
}

/** The board after the middle one has retired, in a second release. */
async function retiredBoard(): Promise<MemoryStore> {
  const store = copyOf(board)
  const components = await on(store, LATER)
  await retireAgents(components, [MIDDLE])
  expect(await release(components, { ifChanged: true })).toMatchObject({ made: true, release: 2 })
  return store
}

test(
  'its rank goes to the next one, and it stands after the ranked with its title, its skill and its day',
  { tags: ['slow'] },
  async () => {
    const store = await retiredBoard()
    expect(standingsIn(store, 1)).toEqual([
      [FIRST, 1, null],
      [MIDDLE, 2, null],
      [LAST, 3, null],
    ])
    expect(standingsIn(store, 2)).toEqual([
      [FIRST, 1, null],
      [LAST, 2, null],
      [MIDDLE, null, LATER],
    ])
    const [before, after] = [entriesOf(store, 1)[1]!, entriesOf(store, 2)[2]!]
    expect(before.skill).not.toBeNull()
    expect(before.certification).not.toBe('none')
    expect(after).toEqual({
      ...before,
      rank: null,
      rank_interval: null,
      board_interval: null,
      retired_at: LATER,
    })
    expectValid('leaderboard-file', leaderboardIn(store, 2))
    await expectNoFault(store, 2)
  },
)

test(
  'its record loses its place on the board and nothing else, and says since when',
  { tags: ['slow'] },
  async () => {
    const store = await retiredBoard()
    const [before, after] = [await payloadsOf(store, 1, MIDDLE), await payloadsOf(store, 2, MIDDLE)]
    expect(before.rankings).toMatchObject({ rank: 2, percentile: 50, retired_at: null })
    const made = { release: 2, as_of: LATER }
    expect(after.verification).toEqual({
      ...before.verification,
      ...made,
      percentile: null,
      retired_at: LATER,
    })
    expect(after.rankings).toEqual({
      ...before.rankings,
      ...made,
      percentile: null,
      rank: null,
      rank_interval: null,
      board_interval: null,
      retired_at: LATER,
    })
    expect(after.metrics).toEqual({ ...before.metrics, ...made, rank_interval: null })
  },
)

test(
  'who still takes part is ranked among those, and whoever has retired remains a voice',
  { tags: ['slow'] },
  async () => {
    const store = await retiredBoard()
    const placesIn = async (number: number, agentId: string) => {
      const { rankings, metrics } = await payloadsOf(store, number, agentId)
      if (!('percentile' in rankings)) throw new Error('no rankings')
      const { rank, rank_interval, percentile } = rankings
      return { rank, rank_interval, percentile, voice: (metrics as { voice: boolean }).voice }
    }
    expect(await placesIn(1, LAST)).toMatchObject({ voice: true, rank: 3, percentile: 16.67 })
    expect(await placesIn(2, LAST)).toMatchObject({ voice: true, rank: 2, percentile: 25 })
    expect(await placesIn(2, FIRST)).toMatchObject({ voice: true, rank: 1, percentile: 75 })
    expect(await placesIn(2, MIDDLE)).toMatchObject({ voice: true, rank: null, percentile: null })
    for (const agentId of [FIRST, LAST]) {
      expect((await placesIn(2, agentId)).rank_interval!.upper).toBeLessThanOrEqual(2)
    }
  },
)

test('stages have the bytes of one process', { tags: ['slow'] }, async () => {
  const store = copyOf(board)
  await retireAgents(await on(store, LATER), [MIDDLE])
  const staged = copyOf(store)
  await release(await on(store, LATER))
  await stagedRelease(await on(staged, LATER))
  expect(await contentOf(staged, releasePrefix(2))).toEqual(await contentOf(store, releasePrefix(2)))
  expect(standingsIn(staged, 2)).toHaveLength(3)
})

test('whoever is back has the rank again', { tags: ['slow'] }, async () => {
  const store = await retiredBoard()
  const components = await on(store, LATER)
  await unretireAgents(components, [MIDDLE])
  expect(await release(components, { ifChanged: true })).toMatchObject({ made: true, release: 3 })
  expect(entriesOf(store, 3)).toEqual(entriesOf(store, 1))
})

test(
  'a retirement to come changes nothing until its instant, which changes the ranks without a new row',
  { tags: ['slow'] },
  async () => {
    const store = copyOf(board)
    await send(store, 'agents', 'b', [agentRow(MIDDLE, new Date(LATER), '2026-03-01T12:00:00.001Z')])
    expect(await release(await on(store, NOW), { ifChanged: true })).toMatchObject({ made: true, release: 2 })
    expect(entriesOf(store, 2)).toEqual(entriesOf(store, 1))
    const { verification } = await payloadsOf(store, 2, MIDDLE)
    expect(verification).toMatchObject({ retired_at: null })
    expect((await readManifest(store, 2))!.next_change_at).toBe(LATER)
    await expectNoFault(store, 2)
    const unchanged = await release(await on(store, '2026-03-01T12:59:59.999Z'), { ifChanged: true })
    expect(unchanged).toMatchObject({ made: false })
    const staged = copyOf(store)
    expect(await release(await on(store, LATER), { ifChanged: true })).toMatchObject({
      made: true,
      release: 3,
    })
    expect(standingsIn(store, 3)).toEqual([
      [FIRST, 1, null],
      [LAST, 2, null],
      [MIDDLE, null, LATER],
    ])
    await stagedRelease(await on(staged, LATER))
    expect(await contentOf(staged, releasePrefix(3))).toEqual(await contentOf(store, releasePrefix(3)))
  },
)
