// The forecasts of a person who is erased: what the next release publishes of them, what no import brings
// back, and how an operator who lies about it is found.
import { parquetReadObjects } from 'hyparquet'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { v5 as uuidv5 } from 'uuid'
import { runAudit } from '../../jobs/audit/audit.ts'
import type { Components } from '../../jobs/components/components.ts'
import { runImportFrom } from '../../jobs/import/import-from.ts'
import { runErase } from '../../jobs/operator/people.ts'
import { runRelease } from '../../jobs/release/release.ts'
import { copyStore } from '../../pipeline/backup/copy.ts'
import { planRelease } from '../../pipeline/release/make.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import {
  ERASED_PREFIX,
  PEOPLE_PREFIX,
  erasedPath,
  manifestPath,
  planPath,
  releasePrefix,
} from '../../pipeline/store/paths.ts'
import { COMPRESSORS } from '../../pipeline/tables/compressors.ts'
import { erasedPeople } from '../../pipeline/tables/left-out.ts'
import type { ErasedPerson } from '../../schemas/manifests.ts'
import { OPERATOR_SCOPES } from '../../schemas/tiers.ts'
import { auditedOutside } from '../support/audited-outside.ts'
import { FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import {
  Clock,
  bearer,
  importRows,
  release,
  startTestService,
  testComponents,
} from '../support/http/service.ts'
import { servedFiles } from '../support/served-data.ts'
import { contentOf, copyOf, recordIn, setRecord } from '../support/store-content.ts'
import { changeManifest } from '../support/worlds/forged-release.ts'
import { auditedLog } from '../support/worlds/logged-world.ts'
import { filesOf, sourceOf } from '../support/worlds/source-cases.ts'
import {
  FORECASTERS,
  NOW,
  QUESTION,
  copyReleasedWorld,
  csvOf,
  forecasterId,
  uuidOf,
} from '../support/worlds/world.ts'
import { LOG_KEY, writeLog } from '../support/worlds/written-log.ts'

const PERSON = forecasterId(0)
const REASON = 'asked by letter of 3 March'
const LATER = '2026-03-02T12:00:00.000Z'
const folder = await suiteFolder()
let released: MemoryStore
/** With a second release, which has the erasure. */
let erased: MemoryStore
beforeAll(async () => {
  released = new MemoryStore()
  await copyReleasedWorld(released)
  erased = copyOf(released)
  const components = await componentsOn(erased)
  await runErase(components, PERSON, REASON, true)
  components.clock.set(LATER)
  await release(components)
})

async function componentsOn(store: MemoryStore, at = NOW): Promise<Components & { clock: Clock }> {
  const clock = new Clock(at)
  const components = await testComponents({ store, folder, clock, settings: { PUBLIC_DATA: 'tables' } })
  return { ...components, signers: [LOG_KEY], clock }
}

/** The paths of the objects with the id, in plain text or in a column of Parquet. */
async function pathsWith(objects: Iterable<[string, Uint8Array]>, id: string): Promise<string[]> {
  const found: string[] = []
  for (const [path, bytes] of objects) {
    const rows = path.endsWith('.parquet')
      ? await parquetReadObjects({ file: bytes.slice().buffer, compressors: COMPRESSORS })
      : []
    const decoded = JSON.stringify(rows, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    if (`${Buffer.from(bytes).toString()} ${decoded}`.includes(id)) found.push(path)
  }
  return found.toSorted()
}

async function faultsOf(store: MemoryStore, number: number): Promise<string[]> {
  return ((await runAudit(await componentsOn(store), number)).json as { faults: string[] }).faults
}

const said: ErasedPerson = { user_id: PERSON, erased_at: NOW, reason: REASON }

describe('the next release', () => {
  test('has the id in its plan and its manifest alone, which say what was erased, why and what it moved', async () => {
    const written = [...erased.objects].filter(
      ([path]) => !released.objects.has(path) && !path.startsWith(PEOPLE_PREFIX),
    )
    expect(await pathsWith(written, PERSON)).toEqual([erasedPath(PERSON), manifestPath(2), planPath(2)])
    const manifest = (await readManifest(erased, 2))!
    const open = manifest.public.map((file) => releasePrefix(file.release) + file.path)
    expect(open.filter((path) => path.includes('/public/forecasts/')).length).toBeGreaterThan(0)
    expect(
      await pathsWith(
        open.map((path) => [path, erased.objects.get(path)!]),
        PERSON,
      ),
    ).toEqual([])
    expect(manifest.erased_people).toEqual([said])
    const questions = 52
    // Of each question, the pairs of the other people and of the agent.
    const moved = { forecasts: 2 * questions, questions, pairs: FORECASTERS * questions }
    expect(manifest.erasures).toEqual([{ ...said, ...moved }])
    expect(manifest.counts.forecasters).toBe(FORECASTERS - 1)
    expect(manifest.corrections).toEqual([])
  })

  test(
    'answers for the person that they are erased, and an earlier one answers as before',
    { tags: ['slow'] },
    async () => {
      const service = await startTestService(await componentsOn(copyOf(erased), LATER))
      onTestFinished(service.stop)
      const { client } = service
      for (const path of [
        `/forecaster/${PERSON}`,
        `/forecaster/${PERSON}/scores`,
        `/view/forecasters/${PERSON}`,
        `/snapshots/forecaster/${PERSON}`,
      ]) {
        const answer = await client.get(path)
        expect(answer.status, path).toBe(404)
        expect(answer.text, path).toContain(`the operator erased the forecasts of this person at ${NOW}`)
      }
      for (const path of ['/view/forecasters', '/leaderboard/forecaster', '/view/search?q=question']) {
        expect((await client.get(path)).text, path).not.toContain(PERSON)
      }
      expect((await client.get(`/view/forecasters/${PERSON}?release=1`)).status).toBe(200)
      expect((await client.get('/releases.atom')).text).toContain('<title>Release 2: 1 correction</title>')
      const sentence = `the operator erased 104 forecasts of the person <code>${PERSON}</code>, which may have moved 312 scores on 52 questions. The reason: <bdi>${REASON}</bdi>`
      expect((await client.get('/view/releases/2')).text).toContain(sentence)
      expect((await client.get('/releases.atom')).text).toContain(
        `Person ${PERSON}: 104 forecasts were erased at ${NOW}`,
      )
    },
  )

  test('passes both audits, and the one of the log', { tags: ['slow'] }, async () => {
    const store = copyOf(erased)
    await writeLog(store, 2)
    const { faults, derived } = (await runAudit(await componentsOn(store), 2)).json as {
      faults: string[]
      derived: boolean
    }
    expect({ faults, derived }).toEqual({ faults: [], derived: true })
    expect(await auditedOutside(folder, (await servedFiles(store)).url)).toMatchObject({
      faults: [],
      derived: true,
    })
    expect((await auditedLog({ store, folder })).faults).toEqual([])
  })
})

describe('an erasure', () => {
  test('says when it counts and what stays, and a second one that it was done', async () => {
    const components = await componentsOn(copyOf(released))
    const first = await runErase(components, PERSON, REASON, true)
    expect(first.json).toMatchObject({ forecasts: { ...said, was_erased: false, from_release: 2 } })
    expect(first.text).toContain(`count for nothing from release 2 on, which says so for everyone to read`)
    expect(first.text).toContain('releases up to 1 are signed')
    components.clock.set(LATER)
    const again = await runErase(components, PERSON, 'another', true)
    expect(again.json).toMatchObject({ forecasts: { ...said, was_erased: true } })
    expect(again.text).toContain(`were erased already, at ${NOW}: ${REASON}`)
  })

  test('is told by the release that has it', { tags: ['slow'] }, async () => {
    const components = await componentsOn(copyOf(released))
    await runErase(components, PERSON, REASON, true)
    expect((await runRelease(components, {})).text).toContain('\nerased:    1 people since release 1\n')
  })

  test('counts from the release after one that was begun', { tags: ['slow'] }, async () => {
    const components = await componentsOn(copyOf(released))
    await planRelease(components, {})
    expect((await runErase(components, PERSON, REASON, true)).json).toMatchObject({
      forecasts: { from_release: 3 },
    })
    await release(components)
    await release(components, { ifChanged: true })
    expect((await readManifest(components.store, 2))!.erased_people).toBeUndefined()
    expect((await readManifest(components.store, 3))!.erased_people).toEqual([said])
  })

  test('whose reason names the person is refused before anything is changed', async () => {
    const components = await componentsOn(copyOf(released))
    await importRows(components, 'forecasters', `user_id,display_name\n${PERSON},Zaphod\n`)
    const before = await contentOf(components.store)
    await expect(runErase(components, PERSON, 'zaphod asked', true)).rejects.toMatchObject({
      kind: 'invalid',
    })
    expect(await contentOf(components.store)).toEqual(before)
    await runErase(components, PERSON, 'a zaphodic letter', true)
  })

  test('is one object, so that one that fails in either way is whole or not there', async () => {
    for (const fault of FAULTS) {
      const store = copyOf(released)
      const faulty = new FaultStore(store, { at: 1, fault, crash: true })
      await erasedPeople(faulty)
        .create(PERSON, said)
        .catch(() => undefined)
      const written = [...store.objects.keys()].filter((path) => !released.objects.has(path))
      expect(written.every((path) => path === erasedPath(PERSON))).toBe(true)
      await erasedPeople(store).create(PERSON, said)
      expect(recordIn(store, erasedPath(PERSON))).toEqual(said)
    }
  })
})

describe('no row of an erased person comes back', () => {
  const line = (who: string) => `forecaster,${who},${QUESTION.open},0.5,2026-02-01T00:00:00Z`

  test('by a file, whose lines are named', { tags: ['slow'] }, async () => {
    const components = await componentsOn(copyOf(erased), LATER)
    const detail = `"${PERSON}" is of a person whose forecasts were erased; leave the row out`
    await expect(
      importRows(components, 'forecasts', csvOf([line(forecasterId(1)), line(PERSON)])),
    ).rejects.toMatchObject({ faults: [{ pointer: 'line 3', detail: `entity_id ${detail}` }] })
    await expect(
      importRows(components, 'forecasters', `user_id,display_name\n${PERSON},Somebody\n`),
    ).rejects.toMatchObject({ faults: [{ pointer: 'line 2', detail: `user_id ${detail}` }] })
    await importRows(components, 'forecasts', csvOf([line(forecasterId(1))]))
  })

  test("by the operator's calls", { tags: ['slow'] }, async () => {
    const components = await componentsOn(copyOf(erased), LATER)
    const service = await startTestService(components)
    onTestFinished(service.stop)
    const key = await components.registry.createOperatorKey(
      'the operator',
      components.clock.now(),
      OPERATOR_SCOPES,
    )
    const forecast = { user_id: PERSON, question_id: QUESTION.open, probability: 0.5, forecast_at: LATER }
    const answer = await service.client.post('/operator/forecasts', { forecasts: [forecast] }, bearer(key))
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('is of a person whose forecasts were erased')
  })

  test("by a platform's files, whose other rows are taken", { tags: ['slow'] }, async () => {
    const components = await componentsOn(new MemoryStore())
    const paths = await filesOf('manifold')
    const source = sourceOf('manifold')
    const user_id = uuidv5('u1', source.namespace)
    await erasedPeople(components.store).create(user_id, { ...said, user_id })
    const { text, json } = await runImportFrom(components, source, paths)
    expect(text).toContain('the forecasts of the forecaster were erased')
    expect(json).toMatchObject({
      imported: expect.arrayContaining([expect.objectContaining({ kind: 'forecasts' })]),
    })
    const tables = [...(components.store as MemoryStore).objects].filter(([path]) =>
      path.startsWith('tables/'),
    )
    expect(await pathsWith(tables, uuidv5('u1', source.namespace))).toEqual([])
  })

  test(
    'by a restore from a backup, nor by the next backup of a store that has lost the record',
    { tags: ['slow'] },
    async () => {
      const [store, backup, restored] = [copyOf(erased), new MemoryStore(), new MemoryStore()]
      const given = { directory: folder, deletes: true, comparesAll: false, progress: () => undefined }
      await copyStore({ ...given, from: store, to: backup })
      await copyStore({ ...given, from: backup, to: restored })
      expect(await faultsOf(restored, 2)).toEqual([])
      await store.delete(erasedPath(PERSON))
      const lost = `${erasedPath(PERSON)} is lost`
      expect((await copyStore({ ...given, from: store, to: backup })).faults).toEqual([
        expect.stringContaining(lost),
      ])
      expect(recordIn(backup, erasedPath(PERSON))).toEqual(said)
    },
  )

  test('by a lost record, which every audit names', { tags: ['slow'] }, async () => {
    const store = copyOf(erased)
    await store.delete(erasedPath(PERSON))
    const components = await componentsOn(store, '2026-03-03T12:00:00.000Z')
    await release(components)
    expect((await readManifest(store, 3))!.erased_people).toEqual([said])
    for (const number of [2, 3]) {
      expect(await faultsOf(store, number)).toEqual([`${erasedPath(PERSON)}: is missing`])
    }
  })
})

describe('an audit finds a manifest', () => {
  async function faultsAfter(change: (store: MemoryStore) => void): Promise<string[]> {
    const store = copyOf(erased)
    change(store)
    return faultsOf(store, 2)
  }

  test('that names somebody whom no record has', { tags: ['slow'] }, async () => {
    const other = { ...said, user_id: forecasterId(1) }
    const faults = await faultsAfter((store) =>
      changeManifest(store, 2, () => ({ erased_people: [said, other] })),
    )
    expect(faults).toContain('manifest.json: it lists other erased people than plan.json')
    expect(faults).toContain(`${erasedPath(other.user_id)}: is missing`)
  })

  test('that leaves somebody out, also where its plan does', { tags: ['slow'] }, async () => {
    const faults = await faultsAfter((store) => {
      changeManifest(store, 2, () => ({ erased_people: undefined }))
      const { erased_people: _, ...plan } = recordIn(store, planPath(2))
      setRecord(store, planPath(2), plan)
    })
    expect(faults).toContain(`manifest.json: ${PERSON} is not listed as erased, and was at ${NOW}`)
    expect(faults.length).toBeGreaterThan(1)
  })

  test('that says otherwise what it moved', { tags: ['slow'] }, async () => {
    const faults = await faultsAfter((store) =>
      changeManifest(store, 2, ({ erasures }) => ({ erasures: [{ ...erasures![0]!, pairs: 1 }] })),
    )
    expect(faults).toEqual([expect.stringMatching(/^manifest.json: .*pairs.*:1,.*derived .*pairs.*:312,/)])
  })

  test('that brings somebody back, by the log and from outside too', { tags: ['slow'] }, async () => {
    const store = copyOf(erased)
    const components = await componentsOn(store, '2026-03-03T12:00:00.000Z')
    await release(components)
    changeManifest(store, 3, () => ({ erased_people: undefined }))
    await writeLog(store, 3)
    const brought = `does not say that ${PERSON} is erased, as release 2 does`
    expect((await auditedLog({ store, folder })).faults).toContain(`${manifestPath(3)}: ${brought}`)
    const outside = await auditedOutside(folder, (await servedFiles(store)).url)
    expect(outside.faults).toContain(`${manifestPath(3)}: ${brought}`)
  })

  test('that claims an erasure of somebody whom it has, from outside', { tags: ['slow'] }, async () => {
    const store = copyOf(erased)
    const other = { ...said, user_id: forecasterId(1) }
    changeManifest(store, 2, () => ({ erased_people: [said, other] }))
    await writeLog(store, 2)
    const { faults } = await auditedOutside(folder, (await servedFiles(store)).url)
    expect(faults).toContain(
      `${manifestPath(2)}: says that ${other.user_id} is erased, and the release has it`,
    )
  })
})

test('of nobody whom the store knows is refused', async () => {
  const components = await componentsOn(copyOf(released))
  await expect(runErase(components, uuidOf(9, 9), 'a slip', true)).rejects.toMatchObject({ kind: 'notFound' })
  expect(await contentOf(components.store, ERASED_PREFIX)).toEqual({})
})
