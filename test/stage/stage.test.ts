// A release in stages: the same bytes as from `fvs release`, whatever is in the world.
// @module-tag slow
import { describe, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { signatureOf } from '../../pipeline/proof/hmac.ts'
import { auditRelease } from '../../pipeline/audit/release.ts'
import { deriveRelease } from '../../pipeline/release/derive.ts'
import { SCORED_KINDS } from '../../pipeline/release/files/kinds.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { entryOf } from '../../pipeline/release/output.ts'
import { readPlan } from '../../pipeline/release/state.ts'
import { planStages } from '../../pipeline/release/stage/plan.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { currentVersions } from '../../pipeline/tables/delta-log.ts'
import type { LeaderboardFile } from '../../schemas/payloads.ts'
import type { TableName } from '../../schemas/tables.ts'
import { CROWD_AS_OF, crowd } from '../support/worlds/crowd.ts'
import { suiteFolder, testFolder } from '../support/folder.ts'
import { HISTORY_START_MS, type Step, historyOf, lawful, takeIn } from '../support/worlds/history.ts'
import { Clock, SECRET, release, testComponents } from '../support/http/service.ts'
import { type StageOptions, type Stages, asCommands, inProcess } from '../support/stage-runs.ts'
import { columnsRead, documentedColumns } from '../support/stage-lines.ts'
import { stagedRelease } from '../support/staged-release.ts'
import { contentOf, copyOf } from '../support/store-content.ts'
import { putUndone, send } from '../support/tables.ts'
import { uuidOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()

function componentsOn(store: MemoryStore, clock: Clock): Promise<Components> {
  return testComponents({ store, folder, clock })
}

async function faultsOf(store: MemoryStore, clock: Clock, number: number): Promise<string[]> {
  const components = await componentsOn(store, clock)
  using database = await components.openDatabase()
  const { faults } = await auditRelease({ ...components, database, secrets: [SECRET] }, number)
  return faults
}

describe('a release in stages', () => {
  test.for([1, 2, 3])('has the bytes of a release in one process: history %d', async (seed) => {
    const store = new MemoryStore()
    const clock = new Clock(new Date(HISTORY_START_MS).toISOString())
    for (const [index, step] of lawful(historyOf(seed, 3)).entries()) {
      const number = index + 1
      clock.set(new Date(clock.now().getTime() + step.laterMs).toISOString())
      await takeIn(step, store, `s${number}`)
      // The second version of a table is there from the second step on, or from the third.
      if (number === 3) {
        for (const table of ['forecasts', 'resolutions'] as const)
          await putUndone(store, { table, version: 2 })
      }
      const whole = copyOf(store)
      expect(await stagedRelease(await componentsOn(store, clock))).toMatchObject({ made: true })
      await release(await componentsOn(whole, clock))
      const released = `releases/${String(number).padStart(8, '0')}/`
      expect(await contentOf(store, released)).toEqual(await contentOf(whole, released))
      expect(await contentOf(store, 'snapshots/')).toEqual(await contentOf(whole, 'snapshots/'))
      expect(await faultsOf(store, clock, number), `release ${number}`).toEqual([])
    }
  })

  test('has them of a store without a row', async () => {
    const [store, clock] = [new MemoryStore(), new Clock(CROWD_AS_OF)]
    const whole = copyOf(store)
    expect(await stagedRelease(await componentsOn(store, clock))).toMatchObject({ made: true, entities: 0 })
    await release(await componentsOn(whole, clock))
    expect(await contentOf(store)).toEqual(await contentOf(whole))
  })
})

test('a release that has been planned in stages may be finished by one process, and the stages say that they have lost', async () => {
  const [store, clock] = [new MemoryStore(), new Clock(CROWD_AS_OF)]
  const components = await componentsOn(store, clock)
  const stages = inProcess(components)
  const lost = await stagedRelease(components, {
    ...stages,
    async run(stage, text, options) {
      if (stage === 'commit') await release(await componentsOn(store, clock), { ifChanged: true })
      return stages.run(stage, text, options)
    },
  })
  expect(lost).toEqual({ made: false, release: 1, reason: 'lost' })
  expect(await readManifest(store, 1)).toBeDefined()
  expect(await faultsOf(store, clock, 1)).toEqual([])
  const unchanged = { made: false, release: 1, reason: 'unchanged' }
  expect(await planStages(components, { ifChanged: true })).toEqual(unchanged)
  expect(await readPlan(store, 2)).toBeUndefined()
})

/** The files of a release in one process, with parts of these sizes. */
async function derivedFiles(
  store: MemoryStore,
  clock: Clock,
  sizes: typeof SMALL,
): Promise<Record<string, string>> {
  const components = await componentsOn(store, clock)
  using database = await components.openDatabase()
  await using derived = await deriveRelease(
    { ...components, database },
    {
      release: 1,
      asOf: clock.now(),
      environment: 'production',
      versions: await currentVersions(store),
      previous: undefined,
      bringsSnapshot: true,
    },
    sizes,
  )
  const files = await Array.fromAsync(derived.files((bytes) => signatureOf(bytes, { current: SECRET })))
  return Object.fromEntries(files.map((file) => [file.path, entryOf(file).sha256]))
}

const SMALL = { pairs: 1_500, entities: 300 }

test('a stage that publishes reads the columns of docs/spark.md, and refuses an input that is cut off inside a line, shards also one without a line', async () => {
  const [store, clock] = [new MemoryStore(), new Clock(new Date(HISTORY_START_MS).toISOString())]
  const [step] = lawful(historyOf(1, 1)) as [Step]
  clock.set(new Date(clock.now().getTime() + step.laterMs).toISOString())
  await takeIn(step, store, 'a')
  const stages = inProcess(await componentsOn(store, clock))
  const inputs: [string, string, StageOptions][] = []
  await stagedRelease(await componentsOn(store, clock), {
    ...stages,
    async run(stage, text, options) {
      if (stage.startsWith('publish')) inputs.push([stage, text, options!])
      return stage === 'commit' ? '{}' : stages.run(stage, text, options)
    },
  })
  expect(new Set(inputs.map(([stage]) => stage))).toEqual(
    new Set(SCORED_KINDS.map(({ name }) => `publish ${name}`)),
  )
  const documented = documentedColumns('reads')
  for (const [stage, text, options] of inputs) {
    expect(await columnsRead(stages.run(stage, 'x\n', options)), stage).toEqual(documented.get(stage))
    for (let length = 1; length < text.length; length += 1 + (length % 97)) {
      if (text[length - 1] === '\n') continue
      const cut = stages.run(stage, text.slice(0, length), options)
      await expect(cut, `${stage} at ${length}`).rejects.toMatchObject({ kind: 'invalid' })
    }
  }
  const [stage, text, options] = inputs[0]!
  const lines = text.trimEnd().split('\n')
  for (const at of lines.keys()) {
    const rest = lines.toSpliced(at, 1).map((line) => `${line}\n`)
    await expect(stages.run(stage, rest.join(''), options)).rejects.toMatchObject({ kind: 'invalid' })
  }
})

describe('a crowd in stages', () => {
  async function begun() {
    const [store, clock] = [new MemoryStore(), new Clock(CROWD_AS_OF)]
    for (const [table, rows] of Object.entries(crowd())) await send(store, table as TableName, 'a', rows)
    return { store, clock, components: await componentsOn(store, clock) }
  }

  test('has the bytes of a release in one process, also of many parts', async () => {
    const { store, clock, components } = await begun()
    const result = await stagedRelease(components, inProcess(components, SMALL))
    expect(result).toMatchObject({ made: true, entities: 820 })
    const derived = await derivedFiles(store, clock, SMALL)
    const first = JSON.parse(
      Buffer.from(store.objects.get('releases/00000001/leaderboard/agent/000000.json')!).toString(),
    ) as LeaderboardFile
    expect(first.entries[0]!.rank).toBe(1)
    const ranked = first.entries.filter(({ rank }) => rank !== null)
    expect(new Set(ranked.map(({ pool }) => pool)).size).toBe(2)
    const retired = first.entries.filter((entry) => 'retired_at' in entry && entry.retired_at !== null)
    expect(retired.filter(({ skill }) => skill !== null).length).toBeGreaterThan(3)
    expect(retired.filter(({ rank }) => rank !== null)).toEqual([])
    const manifest = (await readManifest(store, 1))!
    expect(manifest.voice_rule).toBe('recorded')
    expect(Object.fromEntries(manifest.files.map(({ path, sha256 }) => [path, sha256]))).toEqual(derived)
    expect(manifest.files.map(({ path }) => path)).toEqual(Object.keys(derived))
    const paths = Object.keys(derived).join(' ')
    expect(paths).toMatch(
      /owners\/001.*leaderboard\/agent\/000005.*categories\/000001\/agent\/000000.*categories\/index\.json categories\/boards\.parquet.*entities\/002.*scores\/002.*forecasts\.tree/,
    )
    // A release on one machine goes on from one in stages.
    await send(store, 'forecasts', 'b', [{ ...crowd().forecasts![0]!, forecast_id: uuidOf(9, 1) }])
    await release(await componentsOn(store, clock))
    expect(await faultsOf(store, clock, 2)).toEqual([])
  })

  test('is refused unless every file is there once and fits the others', async () => {
    const { store, components } = await begun()
    const stages = inProcess(components, SMALL)
    let committed: { text: string; options: StageOptions } | undefined
    const held: Stages = {
      ...stages,
      async run(stage, text, options) {
        if (stage !== 'commit') return stages.run(stage, text, options)
        committed = { text, options: options! }
        return JSON.stringify({ made: true })
      },
    }
    await stagedRelease(components, held)
    // A job that is begun again goes on with the same release, and may make all of it once more.
    await stagedRelease(components, held)
    const { text, options } = committed!
    const lines = text.trimEnd().split('\n')
    const commit = (changed: readonly string[]) => stages.run('commit', `${changed.join('\n')}\n`, options)
    const named = (path: string) => lines.findIndex((line) => line.includes(`"path":"${path}`))
    const paths = [
      'agent/',
      'owners/001',
      'leaderboard/forecaster/000002',
      'entities/002',
      'scores/001',
      'row-groups/001',
      'method/parameters',
      'categories/index',
    ]
    for (const path of [...paths, 'forecasts.tree']) {
      const at = named(path)
      await expect(commit(lines.toSpliced(at, 1)), path).rejects.toMatchObject({ kind: 'invalid' })
      await expect(commit([...lines, lines[at]!]), path).rejects.toThrow('comes twice')
    }
    const changed = (path: string, from: RegExp, to: string) => {
      const at = named(path)
      const line = lines[at]!.replace(from, to)
      expect(line).not.toBe(lines[at])
      return commit(lines.with(at, line))
    }
    await expect(changed('scores/001', /"rows":\d+/, '"rows":7')).rejects.toThrow(
      'scores/001.parquet: rows is 7',
    )
    await expect(changed('owners/001', /"agents":\d+/, '"agents":1')).rejects.toThrow('owners/: agents is')
    await expect(changed('categories/index', /"counts":\{[^}]*\}/, '"counts":{}')).rejects.toThrow(
      'categories/index.json: categories is undefined',
    )
    await expect(changed('agent/', /"path"/, '"other":1,"path"')).rejects.toThrow('this describes no file')
    await expect(commit([...lines, lines[0]!.replace(/"path":"[^"]*/, '"path":"more')])).rejects.toThrow(
      'more',
    )
    expect(await readManifest(store, 1)).toBeUndefined()
    expect(JSON.parse(await commit(lines))).toMatchObject({ made: true, release: 1 })
    expect(JSON.parse(await commit(lines))).toEqual({ made: false, release: 1, reason: 'lost' })
    expect(Object.keys(await contentOf(store, 'releases/')).filter((path) => path.includes('tally'))).toEqual(
      [],
    )
  })

  test('is made by the commands, which refuse what another version has planned', async () => {
    const own = await testFolder()
    const components = await testComponents({ folder: own, clock: new Clock(CROWD_AS_OF) })
    const { store, clock } = await begun()
    for (const [table, rows] of Object.entries(crowd()))
      await send(components.store, table as TableName, 'a', rows)
    const commands = asCommands(own, CROWD_AS_OF)
    expect(await stagedRelease(components, commands)).toMatchObject({ made: true, release: 1 })
    await release(await componentsOn(store, clock))
    const released = async (place: Store) => {
      const { 'releases/00000001/plan.json': _, ...content } = await contentOf(place, 'releases/')
      return { ...content, ...(await contentOf(place, 'snapshots/')) }
    }
    expect(await released(components.store)).toEqual(await released(store))
    const plan = await inProcess({ ...components, service: 'another' }).plan()
    expect(plan).toMatchObject({ made: true, release: 2, previous: { release: 1 } })
    await expect(commands.run('publish owners', '', { release: 2 })).rejects.toThrow('another version')
  })
})
