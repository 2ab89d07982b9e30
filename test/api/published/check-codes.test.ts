// Every entity of a release is found by its own code, and what is behind a code is shown as it was and as it
// is, also when titles, names and files have gone since.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, entityOf } from '../../../api/published/check-codes.ts'
import { EarlierReleases } from '../../../api/published/earlier-releases.ts'
import { Manifests } from '../../../api/published/manifests.ts'
import type { Release } from '../../../api/published/release-payloads.ts'
import { type CheckCode, codeText, parseCheckCode } from '../../../pipeline/proof/check-code.ts'
import { thinReleases } from '../../../pipeline/release/retention.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { recordErased } from '../../../pipeline/tables/erased.ts'
import { ENTITY_TYPES, type EntityType } from '../../../schemas/tables.ts'
import { suiteFolder } from '../../support/folder.ts'
import { expectProblem } from '../../support/http/problem.ts'
import {
  Clock,
  type TestService,
  importRows,
  release,
  startTestService,
  testComponents,
} from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { FORECASTERS, copyReleasedWorld, forecasterId, uuidOf } from '../../support/worlds/world.ts'
import { LOG_KEY, writeLog } from '../../support/worlds/written-log.ts'

const folder = await suiteFolder()
const LATER = '2026-03-01T13:00:00.000Z'
const clock = new Clock(LATER)

/** Two releases, both logged; an outcome was corrected between them. */
const store = new MemoryStore()
let agentId: string
let entities: [EntityType, string][]
let service: TestService

const componentsOver = (over: MemoryStore) =>
  testComponents({ store: over, folder, clock, settings: { PUBLIC_URL: 'https://forecasts.example.org' } })

async function serviceOver(over: MemoryStore) {
  return startTestService({ ...(await componentsOver(over)), signers: [LOG_KEY] })
}

const releaseOf = (number: number): Promise<Release> => {
  const earlier = new EarlierReleases(store, new Manifests(store), () => undefined)
  return earlier.of({ current: undefined } as Release, number)
}

beforeAll(async () => {
  ;({ agentId } = await copyReleasedWorld(store))
  entities = [
    ['agent', agentId],
    ...Array.from({ length: FORECASTERS }, (_, index): [EntityType, string] => [
      'forecaster',
      forecasterId(index),
    ]),
  ]
  const components = await componentsOver(store)
  await importRows(
    components,
    'resolutions',
    `question_id,outcome,resolved_at\n${uuidOf(1, 0)},no,2026-01-31T00:00:00.000Z\n`,
  )
  await release(components)
  await writeLog(store, 2)
  service = await serviceOver(store)
})
afterAll(() => service.stop())

describe.for([1, 2])('in release %d', (number) => {
  test('every entity is found by its own code, and all codes differ', async () => {
    const of = await releaseOf(number)
    const codes = new Set<string>()
    for (const [entityType, id] of entities) {
      const code = (await codeOf(of, entityType, id))!
      codes.add(code)
      expect(await entityOf(of, parseCheckCode(code)!)).toBe(id)
    }
    expect(codes.size).toBe(entities.length)
  })

  test('random codes are not found', async () => {
    const of = await releaseOf(number)
    const random = fc.record({
      release: fc.constant(number),
      entityType: fc.constantFrom(...ENTITY_TYPES),
      position: fc.oneof(fc.nat(FORECASTERS), fc.nat(2 ** 23 - 1)),
      hashStart: fc.bigInt({ min: 0n, max: 2n ** 36n - 1n }),
    })
    await fc.assert(
      fc.asyncProperty(random, async (code: CheckCode) => {
        expect(await entityOf(of, code)).toBeUndefined()
      }),
    )
  })
})

const codeIn = async (number: number, index = 1) =>
  (await codeOf(await releaseOf(number), ...entities[index]!))!

describe('the page of a code', () => {
  const page = (code: string) => service.client.get(`/view/check/${encodeURIComponent(code)}`)

  test('says that the record is what the current release published', async () => {
    const code = await codeIn(2)
    const { status, text } = await page(code)
    expect(status).toBe(200)
    expect(text).toContain('✓ Exactly what release 2 published')
    expect(text).toContain('nothing has changed since')
    expect(text).toContain(`/forecaster/${forecasterId(0)}/verification/proof?release=2`)
    expect((await page(code.toLowerCase().replaceAll('-', ' '))).text).toBe(text)
  })

  test('shows an earlier release and the current one beside each other, and what was corrected between', async () => {
    const { status, text } = await page(await codeIn(1))
    expect(status).toBe(200)
    expect(text).toContain('✓ Exactly what release 1 published')
    expect(text).toContain('Said release 1')
    expect(text).toContain('Now: release 2')
    expect(text).toContain('The outcome of 1 question was corrected since')
    expect(text).toContain(uuidOf(1, 0))
    expect(text).toContain(`/forecaster/${forecasterId(0)}/verification/proof?release=1`)
    expect(text).toContain('<meta name="robots" content="noindex">')
  })

  test('answers 404 in words to what is no code, and to codes that nothing has', async () => {
    expectProblem(await page('x'), 404, /"x" is no code: one is the number of a release/)
    expectProblem(await page('3-4F9A-2C81-B7D3'), 404, /the newest release is 2/)
    const made = parseCheckCode(await codeIn(2))!
    const forged = codeText({ ...made, hashStart: made.hashStart ^ 1n })!
    expectProblem(
      await page(forged),
      404,
      /nothing was published under the code .*release 2 published nothing under it/,
    )
  })
})

describe('the page of a code of a release that was thinned', () => {
  const thinned = async (isGone: (path: string) => boolean = () => false, of = store, last = 2) => {
    const changed = copyOf(of)
    await thinReleases({ store: changed, now: () => new Date(LATER), log: () => undefined }, last, 1)
    for (const path of changed.objects.keys()) if (isGone(path)) changed.objects.delete(path)
    return serviceOver(changed)
  }

  test('says that it can no longer be checked, and what the snapshot of the day has', async () => {
    const { client, stop } = await thinned()
    const { status, text } = await client.get(`/view/check/${await codeIn(1)}`)
    await stop()
    expect(status).toBe(200)
    expect(text).toContain('This code can no longer be checked.')
    expect(text).not.toContain('✓ Exactly')
    expect(text).toContain(`/view/forecasters/${forecasterId(0)}`)
  })

  test('names nobody where there is no snapshot either', async () => {
    const { client, stop } = await thinned((path) => path.startsWith('snapshots/'))
    const { status, text } = await client.get(`/view/check/${await codeIn(1)}`)
    await stop()
    expect(status).toBe(200)
    expect(text).toContain('cannot say whom the code is about')
  })

  test('names nobody who was erased since, though the snapshot does', async () => {
    const erased = copyOf(store)
    await recordErased(erased, { user_id: forecasterId(0), erased_at: LATER, reason: 'a test' })
    await release(await componentsOver(erased))
    const { client, stop } = await thinned(undefined, erased, 3)
    const { status, text } = await client.get(`/view/check/${await codeIn(1)}`)
    await stop()
    expect(status).toBe(200)
    expect(text).toContain('cannot say whom the code is about')
    expect(text).not.toContain(forecasterId(0))
  })

  test('is none for a place that the release never had', async () => {
    const { client, stop } = await thinned()
    const made = parseCheckCode(await codeIn(1))!
    expectProblem(
      await client.get(`/view/check/${codeText({ ...made, position: 4711 })!}`),
      404,
      /nothing under it/,
    )
    await stop()
  })
})

describe('the one field', () => {
  const asked = (q: string) => service.client.get(`/view/verify?q=${encodeURIComponent(q)}`)

  test('leads from a link, an id or a code to its page', async () => {
    const code = await codeIn(1)
    for (const [q, to] of [
      [code.toLowerCase(), `/view/check/${code}`],
      [forecasterId(0), `/view/forecasters/${forecasterId(0)}#check`],
      [agentId, `/view/agents/${agentId}#check`],
      [`https://forecasts.example.org/view/agents/${agentId}`, `/view/agents/${agentId}#check`],
      [
        `/sandbox/forecaster/${forecasterId(0)}/badge.svg`,
        `/sandbox/view/forecasters/${forecasterId(0)}#check`,
      ],
      [`/view/questions/${uuidOf(1, 0)}`, `/view/questions/${uuidOf(1, 0)}`],
    ] as const) {
      const answer = await asked(q)
      expect([answer.status, answer.headers['location']], q).toEqual([303, to])
    }
  })

  test.each([
    ['what is this?', 404, 'That is no link, no id and no code.'],
    ['https://evil.example/"><script>alert(1)</script>', 404, 'That link leads to evil.example'],
    [uuidOf(9, 9), 404, 'No agent and no forecaster here has the id'],
    ['{"agent_id": "<b>"}', 200, 'That is the text of a record.'],
  ])('says of %s what is wrong, and keeps it in the field', async (q, status, words) => {
    const answer = await asked(q)
    expect([answer.status, answer.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8'])
    expect(answer.text).toContain(words)
    expect(answer.text).not.toContain('<script>alert')
    expect(answer.text).not.toContain('<b>')
  })

  test('is empty where nothing was asked', async () => {
    expect((await asked('')).text).toBe((await service.client.get('/view/verify')).text)
  })
})
