// The same forecasts give the same bytes: in whatever files, order and format they came, and with any
// threads.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { assignAgents } from '../../jobs/agents/agents.ts'
import type { Components } from '../../jobs/components/components.ts'
import { runImport } from '../../jobs/import/import.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, importRows, release, testComponents } from '../support/http/service.ts'
import { contentOf, copyOf, recordIn } from '../support/store-content.ts'
import { submitForecasts } from '../support/worlds/submitted-forecasts.ts'
import { send } from '../support/tables.ts'
import {
  FORECAST_LINES,
  NOW,
  QUESTIONS_CSV,
  RESOLUTIONS_CSV,
  csvOf,
  forecasterId,
  uuidOf,
} from '../support/worlds/world.ts'

const AS_OF = { asOf: new Date('2026-02-20T00:00:00.000Z') }

const folder = await suiteFolder()

/**
 * An owner's two agents and one that nobody answers for: the best person, the worst, and one in the middle.
 */
const AGENTS = [
  { agent_id: uuidOf(3, 1), owner_id: 'an owner', as: forecasterId(0) },
  { agent_id: uuidOf(3, 2), owner_id: 'an owner', as: forecasterId(5) },
  { agent_id: uuidOf(3, 3), owner_id: null, as: forecasterId(2) },
]
const AGENT_LINES = AGENTS.flatMap(({ agent_id, as }) =>
  FORECAST_LINES.filter((line) => line.includes(as)).map((line) =>
    line.replace(`forecaster,${as}`, `agent,${agent_id}`),
  ),
)

/**
 * The questions, their outcomes and the agents with their forecasts, for each way of importing those of
 * people.
 */
const resolved = new MemoryStore()
beforeAll(async () => {
  const components = await testComponents({ store: resolved, folder, clock: new Clock(NOW) })
  await importRows(components, 'questions', QUESTIONS_CSV)
  await importRows(components, 'resolutions', RESOLUTIONS_CSV)
  const registered_at = new Date('2026-01-01T00:00:00.000Z')
  const agent = { name: 'an agent', model_type: 'none', organization_name: null, retired_at: null }
  const rows = AGENTS.map(({ agent_id }) => ({
    ...agent,
    agent_id,
    owner_id: null,
    registered_at,
    recorded_at: registered_at,
  }))
  await send(resolved, 'agents', 'a', rows)
  await submitForecasts(resolved, AGENT_LINES)
  await assignAgents(
    components,
    AGENTS.filter(({ owner_id }) => owner_id !== null).map(({ agent_id }) => agent_id),
    { owner: 'an owner' },
  )
})

interface Setting {
  threads?: string
  importForecasts: (components: Components, pass: () => void) => Promise<void>
}

/**
 * Imports the forecasts in a way of its own, releases it, and returns what was published; versions of tables
 * are left out.
 */
async function published({ threads = '1', importForecasts }: Setting): Promise<Record<string, string>> {
  const clock = new Clock(NOW)
  let seconds = 0
  const pass = () => {
    clock.set(new Date(Date.parse(NOW) + 1000 * ++seconds).toISOString())
  }
  const store = copyOf(resolved)
  const components = await testComponents({ store, folder, clock, settings: { DUCKDB_THREADS: threads } })
  await importForecasts(components, pass)
  await release(components, AS_OF)
  const manifest = recordIn(store, 'releases/00000001/manifest.json')
  const content = { ...(await contentOf(store, 'releases/')), ...(await contentOf(store, 'snapshots/')) }
  delete content['releases/00000001/plan.json']
  return {
    ...content,
    'releases/00000001/manifest.json': JSON.stringify({
      ...manifest,
      tables: 'versions',
      inputs: 'data files',
    }),
  }
}

const inOneFile =
  (lines: readonly string[] = FORECAST_LINES) =>
  (components: Components) =>
    importRows(components, 'forecasts', csvOf(lines)).then(() => undefined)

/**
 * Every `count`-th line, from the first, the second and so on: pieces that overlap in everything but lines.
 */
const pieces = (count: number) =>
  Array.from({ length: count }, (_, first) =>
    FORECAST_LINES.filter((_line, index) => index % count === first),
  )

/** The periods in which questions are settled: earlier months, and days of the month of the release. */
const PERIODS = ['2026-01', '2026-02-01', '2026-02-02', '2026-02-03', '2026-02-04']

/** Leaves out the public forecasts, which say when each of them was recorded. */
function unrecorded(content: Record<string, string>): Record<string, string> {
  const rest = Object.entries(content).filter(([path]) => !path.includes('/public/forecasts/'))
  const path = 'releases/00000001/manifest.json'
  const manifest = JSON.parse(content[path]!) as { public: { path: string }[] }
  const named = manifest.public.filter((entry) => !entry.path.startsWith('public/forecasts/'))
  return { ...Object.fromEntries(rest), [path]: JSON.stringify({ ...manifest, public: named }) }
}

describe('a release', () => {
  let reference: Record<string, string>
  beforeAll(async () => {
    reference = await published({ importForecasts: inOneFile() })
  })

  test('has shards, tables, a manifest and a snapshot', () => {
    expect(Object.keys(reference).map((key) => key.replace(/[0-9a-f-]{36}/, 'id'))).toEqual([
      'releases/00000001/agent/id.json',
      'releases/00000001/categories/000000/agent/000000.json',
      'releases/00000001/categories/000000/forecaster/000000.json',
      'releases/00000001/categories/boards.parquet',
      'releases/00000001/categories/index.json',
      'releases/00000001/entities/000.parquet',
      'releases/00000001/entities/001.parquet',
      'releases/00000001/forecaster/id.json',
      'releases/00000001/forecasts.tree',
      'releases/00000001/leaderboard/agent/000000.json',
      'releases/00000001/leaderboard/forecaster/000000.json',
      'releases/00000001/manifest.json',
      'releases/00000001/method/parameters.json',
      'releases/00000001/owners/000.json',
      'releases/00000001/public/agents.parquet',
      'releases/00000001/public/events.parquet',
      'releases/00000001/public/forecasters.parquet',
      ...PERIODS.map((period) => `releases/00000001/public/forecasts/${period}.parquet`),
      'releases/00000001/public/questions/2026-01.parquet',
      'releases/00000001/public/questions/2026-10.parquet',
      ...PERIODS.map((period) => `releases/00000001/public/resolutions/${period}.parquet`),
      'releases/00000001/questions/000.json',
      'releases/00000001/references/rows.json',
      'releases/00000001/references/rows.parquet',
      'releases/00000001/row-groups/000.json',
      'releases/00000001/row-groups/001.json',
      'releases/00000001/scores/000.parquet',
      'releases/00000001/scores/001.parquet',
      'snapshots/2026-02-20/agent/id.json',
      'snapshots/2026-02-20/forecaster/id.json',
      'snapshots/2026-02-20/manifest.json',
    ])
  })

  test.for(['2', '5'])('is the same with %s threads', { tags: ['slow'] }, async (threads) => {
    expect(await published({ threads, importForecasts: inOneFile() })).toEqual(reference)
  })

  test('is the same from the rows in reverse and from every row twice', { tags: ['slow'] }, async () => {
    expect(await published({ importForecasts: inOneFile(FORECAST_LINES.toReversed()) })).toEqual(reference)
    expect(await published({ importForecasts: inOneFile([...FORECAST_LINES, ...FORECAST_LINES]) })).toEqual(
      reference,
    )
  })

  test.for([
    ['in order', (files: string[][]) => files],
    [
      'from the middle backwards',
      (files: string[][]) => [...files.slice(0, 3).toReversed(), ...files.slice(3).toReversed()],
    ],
  ] as const)(
    'is the same from seven files at seven instants, %s',
    { tags: ['slow'] },
    async ([, arranged]) => {
      const content = await published({
        importForecasts: async (components, pass) => {
          for (const lines of arranged(pieces(7))) {
            pass()
            await importRows(components, 'forecasts', csvOf(lines))
          }
        },
      })
      expect(unrecorded(content)).toEqual(unrecorded(reference))
    },
  )

  test('is the same from NDJSON and from Parquet', { tags: ['slow'] }, async () => {
    const objects = FORECAST_LINES.map((line) => {
      const [entity_type, entity_id, question_id, probability, forecast_at] = line.split(',')
      return JSON.stringify({
        entity_type,
        entity_id,
        question_id,
        probability: Number(probability),
        forecast_at,
      })
    })
    const fromNdjson = async (components: Components) => {
      const path = join(components.directory, 'forecasts.ndjson')
      await writeFile(path, objects.join('\n'))
      await runImport(components, 'forecasts', path)
    }
    const fromParquet = async (components: Components) => {
      const [json, path] = ['ndjson', 'parquet'].map((format) =>
        join(components.directory, `forecasts.${format}`),
      )
      await writeFile(json!, objects.join('\n'))
      using database = await components.openDatabase()
      await database.run(
        `COPY (SELECT entity_type, entity_id::UUID AS entity_id, question_id::UUID AS question_id, probability, forecast_at::TIMESTAMPTZ AS forecast_at
               FROM read_json('${json}')) TO '${path}' (FORMAT parquet)`,
      )
      await runImport(components, 'forecasts', path!)
    }
    expect(await published({ importForecasts: fromNdjson })).toEqual(reference)
    expect(await published({ importForecasts: fromParquet })).toEqual(reference)
  })

  test('is another when one probability differs by a millionth', { tags: ['slow'] }, async () => {
    const [first, ...rest] = FORECAST_LINES as [string, ...string[]]
    const changed = first.replace(/0\.\d{6}/, (probability) => (Number(probability) + 1e-6).toFixed(6))
    expect(changed).not.toBe(first)
    const content = await published({ importForecasts: inOneFile([changed, ...rest]) })
    expect(content['releases/00000001/scores/001.parquet']).not.toBe(
      reference['releases/00000001/scores/001.parquet'],
    )
  })
})
