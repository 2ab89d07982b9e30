// Every acknowledged forecast has a receipt that holds with the public key alone, however and as often as the
// call is sent.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { startService } from '../../jobs/serve/service.ts'
import { runVerifyProof } from '../../jobs/verify/verify-proof.ts'
import { logExamples } from '../../api/openapi/log-examples.ts'
import { acknowledgedForecast } from '../../api/openapi/examples.ts'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { parseVerifierKey, signingKeyOf } from '../../pipeline/proof/note-keys.ts'
import { parseReceiptHeader } from '../../pipeline/proof/receipts.ts'
import { type VerifiedReceipt, verifyReceipt } from '../../pipeline/proof/verify.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { acknowledgementBytes } from '../../pipeline/tables/receipts.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { FAULTS, type Fault, FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { expectValid } from '../support/json-schema.ts'
import { expectProblem } from '../support/http/problem.ts'
import { test } from '../support/http/fixtures.ts'
import {
  type Answer,
  Client,
  Clock,
  type TestService,
  bearer,
  importRows,
  registerAgent,
  testComponents,
  testService,
} from '../support/http/service.ts'
import { NOW, QUESTION, QUESTIONS_CSV, copyReleasedWorld, uuidOf } from '../support/worlds/world.ts'
import { LOG_KEY, LOG_ORIGIN, LOG_VKEY } from '../support/worlds/written-log.ts'

const folder = await suiteFolder()
const clock = new Clock(NOW)
const store = new MemoryStore()
let service: TestService
let agentId: string
let key: string

const componentsOver = async (over: Store, signers = [LOG_KEY]) => ({
  ...(await testComponents({ store: over, folder, clock })),
  signers,
})

test.beforeAll(async ({ serve }) => {
  await copyReleasedWorld(store)
  service = await serve(await componentsOver(store))
  ;({ agentId, key } = await registerAgent(service.client))
})

const FORECAST = { question_id: QUESTION.open, probability: 0.25 }
const submit = (by: Client = service.client, headers: Record<string, string> = {}) =>
  by.post(`/agents/${agentId}/forecast`, FORECAST, { ...bearer(key), ...headers })
const submitMany = (by: Client = service.client, headers: Record<string, string> = {}) => {
  const forecasts = [FORECAST, { question_id: QUESTION.closed, probability: 0.5 }]
  return by.post(`/agents/${agentId}/forecasts`, { forecasts }, { ...bearer(key), ...headers })
}

const headerOf = ({ headers }: Answer) => headers['x-service-receipt'] as string
function verified(body: Uint8Array, header: string, keys = [LOG_KEY.verifier]): Promise<VerifiedReceipt> {
  return verifyReceipt(body, parseReceiptHeader(header), { keys })
}

/** The body and receipt of the one forecast that is taken of those in `submitMany`. */
function takenIn(answer: Answer): { body: Buffer; receipt: string } {
  const [, text] = /"results":\[(\{.*?),"receipt":"/.exec(answer.text)!
  const [taken, refused] = answer.json<{ results: { receipt: string }[] }>().results
  expect(refused).not.toHaveProperty('receipt')
  return { body: Buffer.from(`${text}}`), receipt: taken!.receipt }
}

/** The UUIDs of the inbox objects of forecasts. */
const batches = () =>
  [...store.objects.keys()].flatMap((path) => /^inbox\/forecasts\/(.{36})-/.exec(path)?.[1] ?? [])

/** The store, with an inbox that takes no forecast, or takes it and does not say so. */
class BrokenInbox extends FaultStore {
  readonly #fault: Fault

  constructor(fault: Fault) {
    super(store)
    this.#fault = fault
  }

  override async putIfAbsent(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<boolean> {
    if (!path.startsWith('inbox/forecasts/')) return super.putIfAbsent(path, bytes, signal)
    if (this.#fault === 'failed but persisted') await super.putIfAbsent(path, bytes, signal)
    throw new Error(this.#fault)
  }
}

describe('a receipt', () => {
  test('of a forecast is saved with its body, and `fvs verify` needs nothing else', async () => {
    const answer = await submit()
    expect(answer.status).toBe(200)
    const save = async (name: string, content: string | Uint8Array) => {
      await writeFile(join(folder, name), content)
      return join(folder, name)
    }
    const verify = async (body: Uint8Array, header: string) =>
      runVerifyProof(await save('body.json', body), {
        vkey: [LOG_VKEY],
        receipt: await save('receipt', header),
        witness: [],
      })
    const report = await verify(answer.bytes, headerOf(answer))
    expect(report.ok, report.text).toBe(true)
    for (const at of [0, 40, answer.bytes.length - 1]) {
      const changed = Buffer.from(answer.bytes)
      changed[at]! ^= 1
      expect(await verify(changed, headerOf(answer)), `body at ${at}`).toMatchObject({ ok: false })
    }
    const receipt = Buffer.from(headerOf(answer), 'base64')
    for (let at = 0; at < receipt.length; at += 7) {
      const changed = Buffer.from(receipt)
      changed[at]! ^= 1
      const found = await verify(answer.bytes, changed.toString('base64'))
      expect(found, `receipt at ${at}`).toMatchObject({ ok: false })
    }
  })

  test('names the inbox object that has the forecast', async () => {
    const before = batches()
    const answer = await submit()
    const [batch] = batches().filter((one) => !before.includes(one))
    const { checkpoint } = await verified(answer.bytes, headerOf(answer))
    expect(checkpoint).toMatchObject({ origin: `${LOG_ORIGIN}/receipts/${batch}`, size: 1 })
  })

  test('of each forecast of a call is of the body that the forecast would have alone', async () => {
    const answer = await submitMany()
    expectValid('forecast-results', answer.json())
    expect(headerOf(answer)).toBeUndefined()
    const { body, receipt } = takenIn(answer)
    const taken = answer.json<{ results: Record<string, unknown>[] }>().results[0]!
    const { status: _status, receipt: _receipt, ...alone } = taken
    expect(body.equals(Buffer.from(canonical(alone)))).toBe(true)
    expect((await verified(body, receipt)).batch).toBe(batches().at(-1))
  })

  test(
    'of each forecast of calls at the same time holds, and for no other forecast',
    { tags: ['slow'] },
    async () => {
      const gate = Promise.withResolvers<void>()
      const slow = new FaultStore(store, {
        before: ({ operation, path }) =>
          operation === 'putIfAbsent' && path.startsWith('inbox/forecasts/') ? gate.promise : undefined,
      })
      const { client } = await testService(await componentsOver(slow))
      const calls = Array.from({ length: 40 }, () => submit(client))
      const queued = async () =>
        /fvs_commit_queued\{environment="production"\} (\d+)/.exec((await client.get('/metrics')).text)?.[1]
      // All but the one that is being written.
      await expect.poll(queued).toBe('39')
      gate.resolve()
      const answers = await Promise.all(calls)
      const found = await Promise.all(answers.map((answer) => verified(answer.bytes, headerOf(answer))))
      const sizes = found.map(({ checkpoint }) => checkpoint.size)
      expect(sizes.filter((size) => size === 39)).toHaveLength(39)
      for (const [index, answer] of answers.entries()) {
        const other = answers[(index + 1) % answers.length]!
        await expect(verified(other.bytes, headerOf(answer))).rejects.toThrow(
          'the checkpoint has another root',
        )
      }
    },
  )

  test('is signed by the key in force and the one before it', async () => {
    const next = signingKeyOf(LOG_ORIGIN, 'log', new Uint8Array(32).fill(8))
    const { client } = await testService(await componentsOver(store, [next, LOG_KEY]))
    const answer = await submit(client)
    for (const one of [next, LOG_KEY]) {
      expect((await verified(answer.bytes, headerOf(answer), [one.verifier])).signatures).toHaveLength(1)
    }
  })

  test('of the sandbox has the name and the key of the sandbox', { tags: ['slow'] }, async () => {
    const own = signingKeyOf(`${LOG_ORIGIN}/sandbox`, 'log', new Uint8Array(32).fill(9))
    const sandbox = await testComponents({ store: new MemoryStore(), folder, clock, environment: 'sandbox' })
    await importRows(sandbox, 'questions', QUESTIONS_CSV)
    const running = await startService(
      { production: await componentsOver(store), sandbox: { ...sandbox, signers: [own] } },
      { scheduler: false },
    )
    onTestFinished(() => running.stop())
    const client = new Client(`${running.url}/sandbox`)
    const agent = await registerAgent(client)
    const answer = await client.post(`/agents/${agent.agentId}/forecast`, FORECAST, bearer(agent.key))
    const { checkpoint } = await verified(answer.bytes, headerOf(answer), [own.verifier])
    expect(checkpoint.origin).toMatch(`${LOG_ORIGIN}/sandbox/receipts/`)
    await expect(verified(answer.bytes, headerOf(answer))).rejects.toThrow('no known key')
  })
})

describe('a call that is repeated by its Idempotency-Key', () => {
  const elsewhere = async () => (await testService(await componentsOver(store))).client

  test('has the same body and a receipt of its own, also from another node', async () => {
    const header = { 'Idempotency-Key': uuidOf(8, 1) }
    const first = await submit(service.client, header)
    const written = batches()
    const answers = [first, await submit(service.client, header), await submit(await elsewhere(), header)]
    expect(batches()).toEqual(written)
    for (const answer of answers) expect([answer.status, answer.text]).toEqual([200, first.text])
    const receipts = await Promise.all(answers.map((answer) => verified(answer.bytes, headerOf(answer))))
    const found = receipts.map(({ batch }) => batch)
    expect(found[0]).toBe(written.at(-1))
    expect(new Set(found).size).toBe(3)
  })

  test('has the same results and receipts of their own', async () => {
    const header = { 'Idempotency-Key': uuidOf(8, 2) }
    const answers = [await submitMany(service.client, header), await submitMany(await elsewhere(), header)]
    const [first, again] = answers.map((answer) => takenIn(answer))
    expect(again!.body.equals(first!.body)).toBe(true)
    const found = [first!, again!].map(({ body, receipt }) => verified(body, receipt))
    const distinct = (await Promise.all(found)).map(({ batch }) => batch)
    expect(new Set(distinct).size).toBe(2)
  })

  test.for(FAULTS)('has a receipt after a write that %s, which had none', async (fault) => {
    const broken = new BrokenInbox(fault)
    const { client } = await testService(await componentsOver(broken))
    const header = { 'Idempotency-Key': uuidOf(8, fault.length) }
    const failed = await submit(client, header)
    expectProblem(failed, 503, /did not confirm/)
    expect(headerOf(failed)).toBeUndefined()
    const answer = await submit(service.client, header)
    expect(answer.status, answer.text).toBe(200)
    await verified(answer.bytes, headerOf(answer))
  })
})

describe('there is no receipt', () => {
  test('where the service keeps no log', async () => {
    const { client } = await testService(await componentsOver(store, []))
    const header = { 'Idempotency-Key': uuidOf(8, 3) }
    for (const answer of [await submit(client), await submit(client, header), await submit(client, header)]) {
      expect(answer.status).toBe(200)
      expect(headerOf(answer)).toBeUndefined()
    }
    const many = await submitMany(client)
    expect(many.text).not.toContain('receipt')
    expectValid('forecast-results', many.json())
  })

  test('for what is refused', async () => {
    const path = `/agents/${agentId}/forecast`
    const refused = await service.client.post(path, { ...FORECAST, probability: 2 }, bearer(key))
    expect([refused.status, headerOf(refused)]).toEqual([422, undefined])
  })
})

test('the body of an answer is canonical JSON for any probability', () => {
  for (const probability of [0, 1, 1e-6, 0.1, 0.123456, 0.999999]) {
    const row = {
      forecast_id: uuidOf(3, 1),
      entity_type: 'agent',
      entity_id: uuidOf(4, 1),
      question_id: QUESTION.open,
      probability,
      forecast_at: new Date(NOW),
      recorded_at: new Date(NOW),
      source: 'api',
    }
    const { forecast_id, entity_id: agent_id, question_id } = row
    const acknowledged = { agent_id, forecast_at: NOW, forecast_id, probability, question_id }
    expect(Buffer.from(acknowledgementBytes(row)).toString()).toBe(
      Buffer.from(canonical(acknowledged)).toString(),
    )
  }
})

test('the receipts in the OpenAPI document hold, of its bodies and with its key', async () => {
  const { forecastResults, receipt, vkeys } = logExamples()
  const keys = [parseVerifierKey(vkeys.trim())]
  await verified(canonical(acknowledgedForecast), receipt, keys)
  expect(forecastResults.results[0]).toMatchObject({ ...acknowledgedForecast, receipt })
})
