// Releases after the forecasts of a person were erased: the bytes of a store that never had them, however the
// release is made.
// @module-tag slow
import { expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { auditRelease } from '../../pipeline/audit/release.ts'
import { readManifest, snapshotDate } from '../../pipeline/release/read.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import {
  manifestPath,
  publicPrefix,
  planPath,
  releasePrefix,
  snapshotPrefix,
} from '../../pipeline/store/paths.ts'
import { erasedPeople } from '../../pipeline/tables/left-out.ts'
import type { Row } from '../../schemas/tables.ts'
import { choicesOf } from '../support/faults/seeded.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, SECRET, release, testComponents } from '../support/http/service.ts'
import { stagedRelease } from '../support/staged-release.ts'
import { contentOf, copyOf } from '../support/store-content.ts'
import { HISTORY_START_MS, type Step, historyOf, lawful, takeIn } from '../support/worlds/history.ts'
import { uuidOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()
const DAY_MS = 86_400_000

function componentsOn(store: MemoryStore, clock: Clock): Promise<Components> {
  return testComponents({ store, folder, clock })
}

async function faultsOf(store: MemoryStore, clock: Clock, number: number): Promise<string[]> {
  const components = await componentsOn(store, clock)
  using database = await components.openDatabase()
  const report = await auditRelease({ ...components, database, secrets: [SECRET] }, number)
  expect(report.derived).toBe(true)
  return report.faults
}

const isOf = (person: string) => (row: Row) =>
  row['user_id'] === person || (row['entity_type'] === 'forecaster' && row['entity_id'] === person)

function withoutPerson({ rows, laterMs }: Step, person: string): Step {
  const kept = Object.entries(rows).map(([table, own]) => [table, own.filter((row) => !isOf(person)(row))])
  return { laterMs, rows: Object.fromEntries(kept) as Step['rows'] }
}

/** What a release publishes but for what names the erasure, the data files and the writers of public files. */
async function publishedBy(store: MemoryStore, number: number): Promise<object> {
  const content = await contentOf(store, releasePrefix(number))
  const apart = [manifestPath(number), planPath(number)]
  const isCompared = (path: string) => !apart.includes(path) && !path.startsWith(publicPrefix(number))
  const manifest = (await readManifest(store, number))!
  const { tables: _t, inputs: _i, erased_people: _p, erasures: _e, ...said } = manifest
  return {
    ...said,
    public: manifest.public.map(({ path, sha256 }) => ({ path, sha256 })),
    files: Object.entries(content).filter(([path]) => isCompared(path)),
    snapshot: await contentOf(store, snapshotPrefix(snapshotDate(manifest.as_of))),
  }
}

/** One that would be in the tree of forecasts. */
const forecastOf = (person: string, number: number, clock: Clock): Row => ({
  forecast_id: uuidOf(5, number),
  entity_type: 'forecaster',
  entity_id: person,
  question_id: uuidOf(1, 0),
  probability: 0.5,
  forecast_at: clock.now(),
  recorded_at: clock.now(),
  source: 'api',
})

/** The first step comes before the erasure, and each later one brings more of the person. */
async function erasedAfterTheFirst(seed: number) {
  const steps = lawful(historyOf(seed, 3))
  const { pick } = choicesOf(seed, 1)
  const people = steps[0]!.rows.forecasts!.filter((row) => row['entity_type'] === 'forecaster')
  const person = pick(people)['entity_id'] as string
  const clock = new Clock(new Date(HISTORY_START_MS).toISOString())
  const [store, never] = [new MemoryStore(), new MemoryStore()]
  const comes = async (number: number) => {
    const step = steps[number - 1]!
    clock.set(new Date(clock.now().getTime() + step.laterMs).toISOString())
    if (number > 1) step.rows.forecasts = [...(step.rows.forecasts ?? []), forecastOf(person, number, clock)]
    await takeIn(step, store, `s${number}`)
    await takeIn(withoutPerson(step, person), never, `s${number}`)
  }
  await comes(1)
  for (const one of [store, never]) await release(await componentsOn(one, clock))
  // A snapshot of a day before the erasure goes on having the person.
  clock.set(new Date(clock.now().getTime() + DAY_MS).toISOString())
  const erased_at = clock.now().toISOString()
  await erasedPeople(store).create(person, { user_id: person, erased_at, reason: 'a test' })
  return { store, never, clock, comes, person, releases: steps.map((_, index) => index + 1) }
}

test.for([1, 2])(
  'have the bytes of a store that never had these, in one process and in stages: history %d',
  async (seed) => {
    const { store, never, clock, comes, person, releases } = await erasedAfterTheFirst(seed)
    for (const number of releases.slice(1)) {
      await comes(number)
      const staged = copyOf(store)
      for (const one of [store, never]) await release(await componentsOn(one, clock))
      await stagedRelease(await componentsOn(staged, clock))
      const published = await publishedBy(never, number)
      for (const one of [store, staged]) {
        expect(await publishedBy(one, number), `release ${number}`).toEqual(published)
      }
      expect(await contentOf(staged, manifestPath(number))).toEqual(
        await contentOf(store, manifestPath(number)),
      )
      expect(await faultsOf(store, clock, number), `release ${number}`).toEqual([])
      const { erased_people, erasures } = (await readManifest(store, number))!
      expect(erased_people).toMatchObject([{ user_id: person }])
      expect(erasures !== undefined).toBe(number === 2)
    }
    expect(await faultsOf(store, clock, 1)).toEqual([])
  },
)
