// Releases that build on the pairs of the one before: the same bytes as from a sweep of everything, whatever
// came in between, and nothing is built on what is not there as it was named.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { auditRelease } from '../../pipeline/audit/release.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { manifestPath, pairsPrefix, releasePrefix } from '../../pipeline/store/paths.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import type { Row } from '../../schemas/tables.ts'
import { suiteFolder } from '../support/folder.ts'
import { HISTORY_START_MS, type Step, historyOf, takeIn } from '../support/worlds/history.ts'
import { changeManifest } from '../support/worlds/forged-release.ts'
import { Clock, SECRET, release, testComponents } from '../support/http/service.ts'
import { contentOf, copyOf, recordIn, withoutPairs } from '../support/store-content.ts'
import { send } from '../support/tables.ts'
import { uuidOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()

interface Line {
  event: string
  reason?: string
}

async function componentsOn(store: MemoryStore, clock: Clock): Promise<Components & { lines: Line[] }> {
  const lines: Line[] = []
  const components = await testComponents({ store, folder, clock })
  return { ...components, lines, log: (event, fields) => lines.push({ event, ...fields }) }
}

/** Why a run swept every question; undefined if it did not, and '' for the first release. */
const reasonIn = (lines: readonly Line[]) =>
  lines.find(({ event }) => event === 'sweeps every question')?.reason

/** What a release has published, without what it carries. */
async function publishedBy(store: MemoryStore, number: number): Promise<object> {
  const content = await contentOf(store, releasePrefix(number))
  const isPrivate = (path: string) => path.startsWith(pairsPrefix(number)) || path === manifestPath(number)
  const { carried: _, ...manifest } = recordIn(store, manifestPath(number))
  return {
    manifest,
    files: Object.entries(content).filter(([path]) => !isPrivate(path)),
    snapshots: await contentOf(store, 'snapshots/'),
  }
}

async function faultsOf(store: MemoryStore, clock: Clock, number: number): Promise<string[]> {
  const components = await componentsOn(store, clock)
  using database = await components.openDatabase()
  const { faults } = await auditRelease({ ...components, database, secrets: [SECRET] }, number)
  return faults
}

/** Makes a release for each step. Returns the store, and for each release why it swept every question. */
async function live(steps: readonly Step[], check: boolean) {
  const store = new MemoryStore()
  const clock = new Clock(new Date(HISTORY_START_MS).toISOString())
  const reasons: (string | undefined)[] = []
  for (const [index, step] of steps.entries()) {
    const number = index + 1
    clock.set(new Date(clock.now().getTime() + step.laterMs).toISOString())
    await takeIn(step, store, `s${number}`)
    const full = withoutPairs(store)
    const components = await componentsOn(store, clock)
    await release(components)
    reasons.push(reasonIn(components.lines))
    if (!check) continue
    await release(await componentsOn(full, clock))
    expect(await publishedBy(store, number), `release ${number}`).toEqual(await publishedBy(full, number))
    expect(await faultsOf(store, clock, number), `release ${number}`).toEqual([])
  }
  return { store, clock, reasons }
}

/** The paths of what the current release carries, each after its release. */
async function carriedIn(store: MemoryStore, number: number): Promise<string[]> {
  const { carried } = (await readManifest(store, number))!
  return carried!.map(({ release: made, path }) => `${made} ${path}`)
}

describe('a release that builds on the one before', () => {
  test.for([1, 2, 3, 4])('publishes the bytes of a sweep of everything: history %d', async (seed) => {
    const { reasons } = await live(historyOf(seed, 9), true)
    // Most releases of each history build on another, unless a forecast came again as another.
    const built = reasons.filter((reason) => reason === undefined).length
    expect(built).toBeGreaterThan(reasons.some((reason) => reason?.includes('as another')) ? 2 : 6)
  })
})

const DAY_MS = 86_400_000
const day = (number: number) => new Date(HISTORY_START_MS + number * DAY_MS)
const resolved = (resolvedOn: number, recordedOn: number, outcome = 'yes'): Row => ({
  question_id: uuidOf(1, 0),
  outcome,
  resolved_at: day(resolvedOn),
  recorded_at: day(recordedOn),
})
const agent = (number: number, owner_id: string | null, recordedOn: number): Row => ({
  agent_id: uuidOf(3, number),
  name: 'an agent',
  model_type: 'none',
  organization_name: null,
  owner_id,
  registered_at: day(-number),
  retired_at: null,
  recorded_at: day(recordedOn),
})

/** Two questions, which six people and an agent that is no voice have answered. */
const FIRST: Step = {
  rows: {
    questions: [0, 1].map((number) => ({
      question_id: uuidOf(1, number),
      title: 'a',
      opened_at: day(0),
      closes_at: day(10),
      recorded_at: day(0),
    })),
    resolutions: [resolved(9, 9), { ...resolved(9, 9), question_id: uuidOf(1, 1) }],
    agents: [agent(0, null, 0)],
    forecasters: [1, 2, 3, 4, 5, 6].map((number) => ({
      user_id: uuidOf(2, number),
      recorded_at: day(0),
    })),
    forecasts: Array.from({ length: 14 }, (_, index) => index).map((index) => ({
      forecast_id: uuidOf(4, index),
      entity_type: index < 2 ? 'agent' : 'forecaster',
      entity_id: uuidOf(index < 2 ? 3 : 2, index >> 1),
      question_id: uuidOf(1, index % 2),
      probability: 0.3 + index / 20,
      forecast_at: day(2),
      recorded_at: day(2),
      source: 'api',
    })),
  },
  laterMs: 20 * DAY_MS,
}
const NOTHING: Step = { rows: {}, laterMs: 40 * DAY_MS }

test.for<[string, Step[]]>([
  [
    'its outcome was recorded before it was known',
    [{ rows: { resolutions: [resolved(30, 20)] }, laterMs: 0 }, NOTHING],
  ],
  ['its outcome leaves nobody a pair', [{ rows: { resolutions: [resolved(1, 20)] }, laterMs: 0 }, NOTHING]],
  [
    'its outcome is withdrawn, and said again later',
    [
      { rows: { resolutions: [resolved(20, 20, 'open')] }, laterMs: 0 },
      NOTHING,
      { rows: { resolutions: [resolved(9, 60)] }, laterMs: 0 },
    ],
  ],
  [
    'an owner makes its agent a voice, and then another agent',
    [
      { rows: { agents: [agent(0, 'an owner', 20)] }, laterMs: 0 },
      { rows: { agents: [agent(1, 'an owner', 20)] }, laterMs: 0 },
    ],
  ],
])('a question is swept again where %s', async ([, steps]) => {
  const { reasons } = await live([FIRST, ...steps], true)
  expect(reasons).toEqual([FIRST, ...steps].map(() => undefined))
})

/** A world with a release, and what comes next: a forecast on one of its questions. */
async function released() {
  const steps = historyOf(1, 1)
  const { store, clock } = await live(steps, false)
  const { forecasts, resolutions, questions, forecasters } = steps[0]!.rows
  const people = new Set(forecasters!.map(({ user_id }) => user_id))
  // One that counts, on a question that scores.
  const forecast = forecasts!.find(({ question_id, entity_id, forecast_at }) => {
    const isIts = (row: Row) => row.question_id === question_id
    const { opened_at, closes_at } = questions!.find(isIts)!
    const { outcome, resolved_at } = resolutions!.find(isIts) ?? { outcome: 'annulled' }
    return (
      outcome !== 'annulled' &&
      people.has(entity_id) &&
      resolved_at! <= clock.now() &&
      opened_at! < resolved_at! &&
      forecast_at! < resolved_at! &&
      forecast_at! < closes_at!
    )
  })
  const next = async (id: string) => {
    const row = { ...forecast!, forecast_id: uuidOf(9, id.length), probability: 0.5 }
    await send(store, 'forecasts', id, [row])
  }
  return { store, clock, next }
}

/** What a release carries that makes all of it: names, and the pairs of agents and of people. */
const whole = (number: number) => [0, 1, 2].map((file) => `${number} pairs/00${file}.parquet`)

describe('pairs that a release carries', () => {
  test('are those of what was touched, beside what was carried before, until too many count no more', async () => {
    const { store, clock, next } = await released()
    expect(await carriedIn(store, 1)).toEqual(whole(1))
    await next('a')
    await release(await componentsOn(store, clock))
    const own = whole(2).slice(0, 2)
    expect(await carriedIn(store, 2)).toEqual([...whole(1), ...own])
    const rowsOf = async (number: number) =>
      (await readManifest(store, number))!.carried!.map(({ rows }) => rows)
    const [, agents, people, , few] = (await rowsOf(2)) as [number, number, number, number, number]
    expect(few).toBeLessThan((agents + people) / 2)
    // Nothing new: nothing is swept, and nothing is written.
    await release(await componentsOn(store, clock))
    expect(await carriedIn(store, 3)).toEqual([...whole(1), ...own])
    let number = 3
    while ((await carriedIn(store, number)).length > 3) {
      expect(number).toBeLessThan(40)
      await next('b'.repeat(++number))
      await release(await componentsOn(store, clock))
    }
    expect(await carriedIn(store, number)).toEqual(whole(number))
    expect(await faultsOf(store, clock, number)).toEqual([])
  })

  test.for([
    ['lost', (store: MemoryStore, path: string) => store.objects.delete(path)],
    ['damaged', (store: MemoryStore, path: string) => store.objects.set(path, new Uint8Array(100))],
  ] as const)('and that are %s are not built on, and the audit names them', async ([, harm]) => {
    const { store, clock, next } = await released()
    await next('a')
    for (const file of [0, 1]) {
      const harmed = copyOf(store)
      const path = pairsPrefix(1) + `00${file}.parquet`
      harm(harmed, path)
      expect(await faultsOf(harmed, clock, 1)).toContainEqual(expect.stringContaining(path))
      const components = await componentsOn(harmed, clock)
      await release(components)
      expect(reasonIn(components.lines)).toContain(path)
      expect(await carriedIn(harmed, 2)).toEqual(whole(2))
      expect(await faultsOf(harmed, clock, 2)).toEqual([])
    }
  })

  test('are not built on by another version of the service', async () => {
    const { store, clock } = await released()
    const components = await componentsOn(store, clock)
    await release({ ...components, service: 'another' })
    expect(reasonIn(components.lines)).toBe('another method or version made release 1')
  })

  test('and that are others than what is derived are found by the audit, though every hash is right', async () => {
    const { store, clock } = await released()
    const components = await componentsOn(store, clock)
    const path = join(components.directory, 'pairs.parquet')
    await writeFile(path, store.objects.get(`${pairsPrefix(1)}001.parquet`)!)
    using database = await components.openDatabase()
    for (const change of [
      `SELECT * REPLACE (brier + 1 AS brier) FROM '${path}'`,
      `SELECT * REPLACE ((entity + 1) % 5 AS entity) FROM '${path}'`,
      `FROM '${path}' UNION ALL FROM '${path}'`,
      `FROM '${path}' OFFSET 1`,
    ]) {
      const forged = `${path}.forged`
      await database.run(`COPY (${change}) TO '${forged}' (FORMAT parquet)`)
      const bytes = await readFile(forged)
      const harmed = copyOf(store)
      harmed.objects.set(`${pairsPrefix(1)}001.parquet`, bytes)
      changeManifest(harmed, 1, ({ carried }) => ({
        carried: carried!.map((file) =>
          file.path === 'pairs/001.parquet'
            ? { ...file, size_bytes: bytes.byteLength, sha256: sha256Hex(bytes) }
            : file,
        ),
      }))
      expect(await faultsOf(harmed, clock, 1), change).toContainEqual(
        expect.stringMatching(/^pairs: what is carried of question [0-9a-f-]{36} is not what is derived$/),
      )
    }
  })
})
