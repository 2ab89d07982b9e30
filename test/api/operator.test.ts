// The operator's calls: the checks and words of an import over HTTP, forecasts of people that are witnessed,
// keys with least rights, and a log of every call.
import { describe, expect, onTestFinished } from 'vitest'
import { type Database, withDatabase } from '../../pipeline/duckdb.ts'
import { loggedCalls } from '../../pipeline/access/operator-log.ts'
import { onKnown } from '../../pipeline/import/waiting.ts'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { parseReceiptHeader } from '../../pipeline/proof/receipts.ts'
import { verifyProof, verifyReceipt } from '../../pipeline/proof/verify.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { OPERATOR_SCOPES, type OperatorScope } from '../../schemas/tiers.ts'
import { suiteFolder } from '../support/folder.ts'
import { copyOf } from '../support/store-content.ts'
import { expectValid } from '../support/json-schema.ts'
import { expectProblem, pointersOf } from '../support/http/problem.ts'
import { test } from '../support/http/fixtures.ts'
import {
  type Answer,
  Clock,
  type TestService,
  bearer,
  registerAgent,
  release,
  testComponents,
  testService,
} from '../support/http/service.ts'
import { NOW, QUESTION, copyReleasedWorld, uuidOf } from '../support/worlds/world.ts'
import { LOG_KEY, writeLog } from '../support/worlds/written-log.ts'

const folder = await suiteFolder()
const clock = new Clock(NOW)
const store = new MemoryStore()
let service: TestService
let key: string

test.beforeAll(async ({ serve }) => {
  await copyReleasedWorld(store)
  const components = { ...(await testComponents({ store, folder, clock })), signers: [LOG_KEY] }
  service = await serve(components)
  key = await components.registry.createOperatorKey('the operator', clock.now(), OPERATOR_SCOPES)
})

const keyFor = (...scopes: OperatorScope[]) =>
  service.components.registry.createOperatorKey('a program', clock.now(), scopes)
const call = (method: string, path: string, body: unknown, by = key): Promise<Answer> =>
  service.client.send(method, path, { body, headers: { 'Content-Type': 'application/json', ...bearer(by) } })
const put = (kind: string, rows: object[], more: object = {}, by = key) =>
  call('PUT', `/operator/${kind}`, { [kind]: rows, ...more }, by)
const post = (forecasts: object[], by = key) => call('POST', '/operator/forecasts', { forecasts }, by)

const question = (n: number) => ({
  question_id: uuidOf(40, n),
  title: `Will it be ${n}?`,
  opened_at: '2026-01-01T00:00:00Z',
  closes_at: '2026-06-01T00:00:00+02:00',
})

/** Returns rows of the tables as they are known, those that wait included. */
async function rowsOf<T extends object>(query: string): Promise<T[]> {
  const { components } = service
  return withDatabase(components.openDatabase, (database: Database) =>
    onKnown({ ...components, database }, () => database.rows<T>(query)),
  )
}

describe('rows', () => {
  test('are taken in, and sending them again changes nothing', { tags: ['slow'] }, async () => {
    const rows = [question(1), question(2)]
    const first = await put('questions', rows)
    expect(first.status, first.text).toBe(200)
    expectValid('rows-taken', first.json())
    expect(first.json()).toMatchObject({
      rows: 2,
      added: 2,
      import_id: expect.stringMatching(/^questions-\d+$/),
    })
    expect((await put('questions', rows)).json()).toMatchObject({ added: 0, unchanged: 2, import_id: null })
    const changed = await put('questions', [{ ...question(1), title: 'Will it be one?' }])
    expect(changed.json()).toMatchObject({ added: 0, changed: 1, changed_columns: { title: 1 } })
    const known = await rowsOf<{ title: string }>(
      `SELECT title FROM current_questions WHERE question_id = '${uuidOf(40, 1)}'`,
    )
    expect(known).toEqual([{ title: 'Will it be one?' }])
  })

  test('make the outcome of a question', { tags: ['slow'] }, async () => {
    await put('questions', [question(3)])
    const said = { question_id: uuidOf(40, 3), outcome: 'no', resolved_at: '2026-02-01T00:00:00Z' }
    expect((await put('resolutions', [said])).json()).toMatchObject({ kind: 'resolutions', added: 1 })
    const open = { ...said, outcome: 'open', resolved_at: '2026-02-02T00:00:00Z' }
    expect((await put('resolutions', [open], { reason: 'it was another one' })).json()).toMatchObject({
      changed: 1,
    })
  })

  test(
    'say of events what they are, what their market said, and how they ended',
    { tags: ['slow'] },
    async () => {
      const options = [4, 5, 6].map((n, position) => ({
        ...question(n),
        event_id: 'which',
        position,
        option: `${n}`,
      }))
      await put('questions', options)
      const event = { event_id: 'which', title: 'Which?', kind: 'ordered' }
      expect((await put('events', [event])).json()).toMatchObject({ kind: 'events', added: 1 })
      const price = {
        question_id: uuidOf(40, 4),
        priced_at: '2026-01-05T00:00:00Z',
        probability: 0.25,
        source: 'm',
      }
      const priced = await call('PUT', '/operator/prices', {
        prices: [price, { ...price, priced_at: '2026-01-06T00:00:00Z', probability: null }],
      })
      expect(priced.json()).toMatchObject({ kind: 'prices', added: 2 })

      const said = { resolved_at: '2026-02-01T00:00:00Z', known_at: '2026-01-31T00:00:00Z' }
      const end = (outcome: object) => call('PUT', '/operator/events/which/outcome', { ...said, ...outcome })
      const ended = await end({ highest: uuidOf(40, 5) })
      expect(ended.status, ended.text).toBe(200)
      expect(ended.json()).toMatchObject({ kind: 'resolutions', added: 3 })
      const known = await rowsOf(
        `SELECT option, outcome, known_at FROM current_questions JOIN current_resolutions USING (question_id)
       WHERE event_id = 'which' ORDER BY position`,
      )
      expect(known).toEqual(
        ['yes', 'yes', 'no'].map((outcome, n) => ({
          option: `${n + 4}`,
          outcome,
          known_at: new Date(said.known_at),
        })),
      )
      const none = await end({ highest: null, annulled: [uuidOf(40, 4)] })
      expect(none.json()).toMatchObject({ changed: 2, changed_columns: { outcome: 2 } })
    },
  )

  test(
    'of an event that it cannot have ended by are refused, and nothing is written',
    { tags: ['slow'] },
    async () => {
      await put(
        'questions',
        [14, 15].map((n) => ({ ...question(n), event_id: 'one of two' })),
      )
      await put('events', [{ event_id: 'one of two', title: 'Which?', kind: 'exclusive' }])
      const end = (outcome: object, event = 'one%20of%20two') =>
        call('PUT', `/operator/events/${event}/outcome`, { resolved_at: '2026-02-01T00:00:00Z', ...outcome })
      const both = await end({ yes: [uuidOf(40, 14), uuidOf(40, 15)] })
      expectProblem(both, 422, /3 bad rows|2 bad rows/)
      expect(pointersOf(both)).toEqual(['/yes'])
      expect(both.text).toContain('both end yes')
      expect((await end({ yes: [] })).text).toContain('one must end yes')
      expect(pointersOf(await end({ yes: [uuidOf(40, 1)], annulled: [uuidOf(40, 2)] }))).toEqual([
        '/yes/0',
        '/annulled/0',
      ])
      expect(pointersOf(await end({ highest: uuidOf(40, 14) }))).toEqual(['/highest'])
      expect(pointersOf(await end({ yes: [uuidOf(40, 14)], annulled: [uuidOf(40, 14)] }))).toEqual([
        '/annulled/0',
      ])
      expectProblem(await end({ highest: null, yes: [] }), 422, /./)
      expectProblem(await end({ yes: [] }, 'nothing'), 404, /no question has the event_id "nothing"/)
      const found = await rowsOf(
        `SELECT * FROM resolutions JOIN current_questions USING (question_id) WHERE event_id = 'one of two'`,
      )
      expect(found).toEqual([])
    },
  )

  test(
    'are all or nothing, and the bad ones are named as in a file, without hints at a command',
    { tags: ['slow'] },
    async () => {
      const bad = await put('questions', [
        question(7),
        { ...question(8), closes_at: '2025-12-01T00:00:00Z' },
        { ...question(9), opened_at: '2026-01-01T00:00:00' },
        { ...question(10), title: '' },
      ])
      expectProblem(bad, 422, /^PUT \/operator\/questions: 3 bad rows; nothing was imported$/)
      expect(pointersOf(bad)).toEqual(['/questions/1', '/questions/2', '/questions/3'])
      expect(bad.text).not.toMatch(/--|line \d/)
      const found = await rowsOf(`SELECT * FROM questions WHERE question_id = '${uuidOf(40, 7)}'`)
      expect(found).toEqual([])
    },
  )

  test('of the wrong form are named by their fields, before any other check', async () => {
    const bad = await put('questions', [
      { ...question(9), colour: 'red' },
      { ...question(10), question_id: 'ten' },
      { ...question(11), title: { of: 'it' }, category: 7 },
      { question_id: uuidOf(40, 12) },
    ])
    expect(pointersOf(bad)).toEqual([
      '/questions/0/colour',
      '/questions/1/question_id',
      '/questions/2/title',
      '/questions/2/category',
      '/questions/3/title',
      '/questions/3/opened_at',
      '/questions/3/closes_at',
    ])
    const forecast = { user_id: 7, question_id: QUESTION.open, probability: 1.5, forecast_at: NOW }
    expect(pointersOf(await post([forecast]))).toEqual(['/forecasts/0/probability', '/forecasts/0/user_id'])
  })

  test('change how a scored question is scored only with a reason', { tags: ['slow'] }, async () => {
    const [scored] = await rowsOf<{ question_id: string; opened: string }>(
      `SELECT question_id, strftime(opened_at AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ') AS opened
       FROM current_questions JOIN current_resolutions USING (question_id) WHERE outcome = 'yes' ORDER BY question_id LIMIT 1`,
    )
    const row = {
      question_id: scored!.question_id,
      title: 'Another title',
      opened_at: scored!.opened,
      closes_at: '2026-02-27T00:00:00Z',
    }
    const refused = await put('questions', [row])
    expectProblem(refused, 422, /1 bad row/)
    expect(refused.text).toContain('send a reason')
    expect((await put('questions', [row], { reason: 'the close was wrong' })).json()).toMatchObject({
      changed: 1,
    })
  })

  test('are at most a thousand, and at least one', async () => {
    const rows = Array.from({ length: 1001 }, (_, n) => question(n))
    expectProblem(await put('questions', rows), 422, /1001 questions were sent/)
    expectProblem(await put('questions', []), 422, /must have at least one row/)
  })

  test(
    'of a thousand and long texts fit, and those beyond are told how much does',
    { tags: ['slow'] },
    async () => {
      const long = Array.from({ length: 1000 }, (_, n) => ({
        ...question(n + 100),
        background: 'x'.repeat(3000),
      }))
      expect((await put('questions', long)).json()).toMatchObject({ added: 1000 })
      const longer = long.map((row) => ({ ...row, background: 'y'.repeat(5000) }))
      expectProblem(await put('questions', longer), 413, /more than 4194304 bytes/)
    },
  )
})

describe('forecasts of people', () => {
  const forecast = (n: number, more: object = {}) => ({
    user_id: uuidOf(41, n),
    question_id: QUESTION.open,
    probability: 0.25,
    forecast_at: '2026-03-01T11:55:00Z',
    ...more,
  })
  type Result = Record<'forecast_id' | 'user_id' | 'question_id' | 'forecast_at', string> & {
    probability: number | null
    receipt: string | null
    witnessed: boolean
  }
  const resultsOf = (answer: Answer) => {
    expect(answer.status, answer.text).toBe(200)
    expectValid('forecasts-taken', answer.json())
    return answer.json<{ results: Result[] }>().results
  }
  const bodyOf = ({ forecast_id, user_id, question_id, probability, forecast_at }: Result) =>
    canonical({ forecast_id, user_id, question_id, probability, forecast_at })

  test('that come in time are witnessed, with a receipt of what was taken', async () => {
    const answer = await post([forecast(1), forecast(2, { probability: null })])
    expect(answer.json()).toMatchObject({ added: 2, forecasters_created: 2, import_id: null })
    const results = resultsOf(answer)
    for (const result of results) {
      expect(result.witnessed).toBe(true)
      const receipt = parseReceiptHeader(result.receipt!)
      await verifyReceipt(bodyOf(result), receipt, { keys: [LOG_KEY.verifier] })
    }
    expect(results[1]!.probability).toBeNull()
  })

  test('that are sent again are those of before, with receipts', { tags: ['slow'] }, async () => {
    const [first] = resultsOf(await post([forecast(3)]))
    const answer = await post([forecast(3), forecast(4), forecast(3)])
    expect(answer.json()).toMatchObject({ added: 1, unchanged: 2 })
    const [again, , repeated] = resultsOf(answer)
    expect(again).toEqual({ ...first, receipt: again!.receipt })
    expect(repeated!.forecast_id).toBe(first!.forecast_id)
    await verifyReceipt(bodyOf(again!), parseReceiptHeader(again!.receipt!), { keys: [LOG_KEY.verifier] })
    const rows = await rowsOf<{ n: bigint }>(
      `SELECT count(*) AS n FROM forecasts WHERE entity_id = '${uuidOf(41, 3)}'`,
    )
    expect(rows).toEqual([{ n: 1n }])
  })

  test('that come late are taken as those of a file, without a receipt', { tags: ['slow'] }, async () => {
    const late = forecast(5, { forecast_at: '2026-03-01T11:49:59.999Z' })
    const answer = await post([late, forecast(5)])
    expect(answer.json()).toMatchObject({ added: 2, import_id: expect.stringMatching(/^forecasts-\d+$/) })
    expect(resultsOf(answer).map(({ witnessed, receipt }) => [witnessed, receipt === null])).toEqual([
      [false, true],
      [true, false],
    ])
    const rows = await rowsOf<{ source: string }>(
      `SELECT source FROM forecasts WHERE entity_id = '${uuidOf(41, 5)}' ORDER BY forecast_at`,
    )
    expect(rows).toEqual([{ source: 'import' }, { source: 'api' }])
    expect((await post([late, forecast(5)])).json()).toMatchObject({ added: 0, unchanged: 2 })
  })

  test(
    'are refused where they contradict, come from the future or are about nothing',
    { tags: ['slow'] },
    async () => {
      await post([forecast(6)])
      const refused = await post([
        forecast(6, { probability: 0.5 }),
        forecast(7, { forecast_at: '2026-03-01T12:00:01Z' }),
        forecast(8, { question_id: uuidOf(49, 1) }),
      ])
      expectProblem(refused, 422, /3 bad rows/)
      const { errors } = refused.json<{ errors: { pointer: string; detail: string }[] }>()
      expect(errors.map(({ pointer }) => pointer)).toEqual([0, 1, 2].map((n) => `/forecasts/${n}`))
      expect(errors[0]!.detail).toMatch(/^probability is 0.5, but the known forecast .* has 0.25/)
      expect(await rowsOf(`FROM forecasts WHERE entity_id = '${uuidOf(41, 7)}'`)).toEqual([])
    },
  )

  test('are proved by the next release if they came in time', { tags: ['slow'] }, async () => {
    clock.set('2026-03-01T12:30:00.000Z')
    onTestFinished(() => {
      clock.set(NOW)
    })
    const sent = [
      forecast(11, { forecast_at: '2026-03-01T12:20:00Z' }),
      forecast(12, { forecast_at: '2026-03-01T12:19:59.999Z' }),
    ]
    const [inTime, late] = resultsOf(await post(sent))
    clock.set('2026-03-01T12:31:00.000Z')
    const published = copyOf(store)
    const components = { ...(await testComponents({ store: published, folder, clock })), signers: [LOG_KEY] }
    const { release: number } = await release(components)
    await writeLog(published, number)
    const { client } = await testService(components)
    const proof = await client.get(`/forecasts/${inTime!.forecast_id}/proof`)
    expect(proof.status, proof.text).toBe(200)
    const keys = [LOG_KEY.verifier]
    const { tree } = await verifyProof(bodyOf(inTime!), proof.text, {
      keys,
      witnesses: [],
      leastCosignatures: 0,
    })
    expect(tree).toBe('forecasts')
    expectProblem(await client.get(`/forecasts/${late!.forecast_id}/proof`), 404, /./)
  })
})

describe('an agent', () => {
  test('gets an owner and retires, and comes back', { tags: ['slow'] }, async () => {
    const { agentId, key: own } = await registerAgent(service.client)
    const said = await call('PUT', `/operator/agents/${agentId}`, { owner_id: ' a  group ', retired: true })
    expect(said.status, said.text).toBe(200)
    expectValid('agent-stated', said.json())
    expect(said.json()).toMatchObject({ changed: true, retired_at: NOW })
    const again = await call('PUT', `/operator/agents/${agentId}`, { owner_id: 'a group' })
    expect(again.json()).toMatchObject({ changed: false, retired_at: NOW })
    const back = await call('PUT', `/operator/agents/${agentId}`, { retired: false, owner_id: null })
    expect(back.json()).toMatchObject({ changed: true, retired_at: null })
    const forecast = { question_id: QUESTION.open, probability: 0.5 }
    expect((await service.client.post(`/agents/${agentId}/forecast`, forecast, bearer(own))).status).toBe(200)
  })

  test('that is unknown, or a statement without content, is refused', async () => {
    expectProblem(await call('PUT', `/operator/agents/${uuidOf(9, 9)}`, { retired: true }), 404, /no agent/)
    expectProblem(await call('PUT', `/operator/agents/${uuidOf(9, 9)}`, {}), 422, /must say something/)
  })
})

describe('a key', () => {
  test('does only what its scopes say', { tags: ['slow'] }, async () => {
    const own = await keyFor('questions')
    expect((await put('questions', [question(20)], {}, own)).status).toBe(200)
    const outcome = { question_id: uuidOf(40, 20), outcome: 'yes', resolved_at: '2026-02-01T00:00:00Z' }
    const refused = await put('resolutions', [outcome], {}, own)
    expectProblem(refused, 403, /has the scope questions, and the call needs resolutions/)
    expect(refused.json()).toMatchObject({ type: '/problems/missing-scope' })
    expectProblem(await put('questions', [{ title: 1 }], {}, own), 422, /not valid/)
    const logged = await loggedCalls(store)
    const lines = logged.slice(-2).map((one) => [one.call, one.state])
    expect(lines).toEqual([
      ['PUT /operator/resolutions', 'refused'],
      ['PUT /operator/questions', 'refused'],
    ])
  })

  test('of an agent or a client is none of the operator, nor the other way round', async () => {
    const { agentId, key: own } = await registerAgent(service.client)
    expectProblem(await put('questions', [question(21)], {}, own), 401, /not the API key of an operator/)
    const forecast = { question_id: QUESTION.open, probability: 0.5 }
    const answer = await service.client.post(`/agents/${agentId}/forecast`, forecast, bearer(key))
    expectProblem(answer, 401, /not the API key of an agent/)
  })

  test('that is revoked ends at once', async () => {
    const own = await keyFor('questions')
    expect((await put('questions', [question(22)], {}, own)).status).toBe(200)
    await service.components.registry.revokeKey(own.split('_')[2]!, clock.now())
    expectProblem(await put('questions', [question(22)], {}, own), 401, /or was revoked/)
  })
})

test('every call is in the log of the operator, those refused too', { tags: ['slow'] }, async () => {
  const before = (await loggedCalls(store)).length
  await put('questions', [question(30)], { reason: 'a new one' })
  await put('questions', [{ ...question(31), closes_at: 'soon' }])
  const calls = (await loggedCalls(store)).slice(before)
  expect(calls).toMatchObject([
    {
      owner: 'the operator',
      call: 'PUT /operator/questions',
      asked: { rows: 1 },
      reason: 'a new one',
      state: 'done',
      result: { added: 1 },
    },
    { state: 'refused', result: { detail: expect.stringContaining('1 bad row') } },
  ])
})
