// Whoever has the body of an answer, the proof of the forecast and the public key of the log can check that
// it was taken in.
import { randomBytes } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { describe, expect, onTestFinished } from 'vitest'
import type { Components } from '../../../jobs/components/components.ts'
import { startService } from '../../../jobs/serve/service.ts'
import { logExamples } from '../../../api/openapi/log-examples.ts'
import { acknowledgedForecast } from '../../../api/openapi/examples.ts'
import { canonical } from '../../../pipeline/proof/canonical.ts'
import { parseVerifierKey, signingKeyOf, verifierKeyText } from '../../../pipeline/proof/note-keys.ts'
import { parseReceiptHeader } from '../../../pipeline/proof/receipts.ts'
import { verifyProof, verifyReceipt } from '../../../pipeline/proof/verify.ts'
import { thinReleases } from '../../../pipeline/release/retention.ts'
import { readManifest } from '../../../pipeline/release/read.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { logCheckpointPath, logTilePath, releasePrefix } from '../../../pipeline/store/paths.ts'
import { FORECASTS_TREE_PATH } from '../../../pipeline/release/files/forecasts-tree.ts'
import { completeLog } from '../../../pipeline/transparency/publish.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import { suiteFolder } from '../../support/folder.ts'
import { expectProblem, pointersOf } from '../../support/http/problem.ts'
import { test } from '../../support/http/fixtures.ts'
import {
  type Answer,
  Client,
  Clock,
  type TestService,
  bearer,
  importRows,
  registerAgent,
  release,
  testComponents,
  testService,
} from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { send } from '../../support/tables.ts'
import { QUESTION, QUESTIONS_CSV, copyReleasedWorld, uuidOf } from '../../support/worlds/world.ts'
import { LOG_KEY, LOG_VKEY, writeLog } from '../../support/worlds/written-log.ts'

const folder = await suiteFolder()
const clock = new Clock('2026-03-01T12:01:00.000Z')
const idAt = (time: string) => uuidv7({ msecs: Date.parse(time), random: randomBytes(16) })
const LAST = 5

/** Releases at 12:00, 12:15, 12:30, 12:45 and 13:00; none of the first and none that is new in the fourth. */
const store = new MemoryStore()
let service: TestService
let agentId: string
/** An acknowledged forecast, by the release that has it. */
const acknowledged: { release: number; answer: Answer }[] = []
/** In the inbox of the second release, and by its retry again in that of the third. */
const RETRIED = idAt('2026-03-01T12:14:00.000Z')
/** Recorded after its release had begun, and before it read the inbox. */
const LATE = idAt('2026-03-01T12:15:02.000Z')
/** Of a node whose clock is ahead. */
const AHEAD = idAt('2026-03-01T12:39:00.000Z')

const componentsOver = async (over: MemoryStore | FaultStore, signers = [LOG_KEY]) => ({
  ...(await testComponents({ store: over, folder, clock })),
  signers,
  newId: () => idAt(clock.now().toISOString()),
})
const serviceOver = async (over: MemoryStore | FaultStore, signers = [LOG_KEY]) =>
  (await testService(await componentsOver(over, signers))).client

const rowOf = (forecast_id: string, at: string) => ({
  forecast_id,
  entity_type: 'agent',
  entity_id: agentId,
  question_id: QUESTION.open,
  probability: 0.5,
  forecast_at: new Date(at),
  recorded_at: new Date(at),
  source: 'api',
})

test.beforeAll(async ({ serve }) => {
  await copyReleasedWorld(store)
  service = await serve(await componentsOver(store))
  const agent = await registerAgent(service.client)
  agentId = agent.agentId
  const submit = async (inRelease: number, time: string, count: number) => {
    clock.set(time)
    const body = { question_id: QUESTION.open, probability: 0.25 }
    const path = `/agents/${agentId}/forecast`
    for (let number = 0; number < count; number++) {
      const answer = await service.client.post(path, body, bearer(agent.key))
      acknowledged.push({ release: inRelease, answer })
    }
  }
  const releaseAt = async (time: string) => {
    clock.set(time)
    await release(await componentsOver(store))
  }
  await submit(2, '2026-03-01T12:03:00.000Z', 3)
  await submit(2, '2026-03-01T12:14:59.999Z', 2)
  await send(store, 'forecasts', 'a', [rowOf(RETRIED, '2026-03-01T12:14:00.000Z')])
  await send(store, 'forecasts', 'b', [rowOf(LATE, '2026-03-01T12:15:02.000Z')])
  await releaseAt('2026-03-01T12:15:00.000Z')
  await send(store, 'forecasts', 'c', [rowOf(RETRIED, '2026-03-01T12:14:00.000Z')])
  await submit(3, '2026-03-01T12:15:00.001Z', 1)
  await submit(3, '2026-03-01T12:29:00.000Z', 4)
  await send(store, 'forecasts', 'd', [rowOf(AHEAD, '2026-03-01T12:39:00.000Z')])
  await releaseAt('2026-03-01T12:30:00.000Z')
  await releaseAt('2026-03-01T12:45:00.000Z')
  await submit(5, '2026-03-01T12:59:00.000Z', 1)
  await releaseAt('2026-03-01T13:00:00.000Z')
  await writeLog(store, LAST)
  await service.stop()
  service = await serve(await componentsOver(store))
})

const idOf = ({ answer }: (typeof acknowledged)[number]) => answer.json<{ forecast_id: string }>().forecast_id
const proofOf = (id: string, by = service.client) => by.get(`/forecasts/${id}/proof`)
const check = (body: Uint8Array, proof: string, vkey = LOG_VKEY) =>
  verifyProof(body, proof, { keys: [parseVerifierKey(vkey)], witnesses: [], leastCosignatures: 0 })

describe('a forecast that was acknowledged', () => {
  test('has a proof of the first release that took it in, and its receipt promised that', async () => {
    expect(acknowledged).toHaveLength(11)
    for (const one of acknowledged) {
      const { answer } = one
      const proof = await proofOf(idOf(one))
      expect(proof.status, proof.text).toBe(200)
      expect(proof.headers).toMatchObject({
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': 'public, max-age=60',
        'access-control-allow-origin': '*',
      })
      const { tree, statement, checkpoint } = await check(answer.bytes, proof.text)
      expect([tree, statement.release, checkpoint.size]).toEqual(['forecasts', one.release, LAST])
      const receipt = parseReceiptHeader(answer.headers['x-service-receipt'] as string)
      await verifyReceipt(answer.bytes, receipt, { keys: [LOG_KEY.verifier] })
    }
  })

  test('has no proof that holds for another forecast', async () => {
    const { text } = await proofOf(idOf(acknowledged[0]!))
    for (const { answer } of acknowledged.slice(1)) {
      await expect(check(answer.bytes, text)).rejects.toThrow(ServiceError)
    }
  })

  test.for([
    ['was written again after its release', () => RETRIED, 2],
    ['came after the `as_of` of the release that took it in', () => LATE, 2],
    ['has a time of a clock that is ahead', () => AHEAD, 3],
  ] as const)('and that %s is found', async ([, id, number]) => {
    const { text, status } = await proofOf(id())
    expect(status, text).toBe(200)
    const extra = Buffer.from(/^extra (.*)$/m.exec(text)![1]!, 'base64').toString()
    expect(extra).toContain(`"release":${number},`)
  })

  test('is found in any letters', async () => {
    const { text } = await proofOf(RETRIED.toUpperCase())
    expect(text).toBe((await proofOf(RETRIED)).text)
  })

  test('costs few reads, and no object is read whole', async () => {
    const watched = new FaultStore(store)
    const client = await serviceOver(watched)
    await proofOf(RETRIED, client)
    const before = watched.calls.length
    for (const one of acknowledged) expect((await proofOf(idOf(one), client)).status).toBe(200)
    const calls = watched.calls.slice(before).filter(({ path }) => path.includes(FORECASTS_TREE_PATH))
    expect(new Set(calls.map(({ operation }) => operation))).toEqual(new Set(['range']))
    expect(calls).toHaveLength(acknowledged.length)
  })
})

describe('there is no proof', () => {
  test('of what is no id', async () => {
    for (const wrong of ['x', '123', `${RETRIED}0`])
      expect(pointersOf(await proofOf(wrong))).toEqual(['/forecast_id'])
  })

  test('of a forecast that no release has', async () => {
    const unknown = [
      idAt('2026-03-01T12:14:00.000Z'),
      idAt('2020-01-01T00:00:00.000Z'),
      idAt('2026-03-01T12:49:59.999Z'),
      // Later than any clock may be.
      idAt('2026-03-01T13:10:00.001Z'),
      // Imported.
      uuidOf(3, 1),
    ]
    for (const id of unknown) {
      const answer = await proofOf(id)
      expectProblem(answer, 404, /^no release has the forecast \S+$/)
      expect(answer.json()).toMatchObject({ type: '/problems/not-found' })
    }
  })

  test('of a forecast that the next release may have: the answer says when that is due', async () => {
    for (const time of ['2026-03-01T12:51:00.000Z', '2026-03-01T13:00:00.000Z', '2026-03-01T13:05:00.000Z']) {
      const answer = await proofOf(idAt(time))
      expectProblem(answer, 404, /yet: if it was acknowledged, one will have it; .* due/)
      expect(answer.json()).toMatchObject({ type: '/problems/not-released-yet' })
    }
    const client = await serviceOver(new MemoryStore())
    expect((await proofOf(idAt('2026-03-01T13:00:00.000Z'), client)).json()).toMatchObject({
      type: '/problems/not-released-yet',
    })
  })

  test('where there is no log', async () => {
    const changed = copyOf(store)
    for (const path of changed.objects.keys()) if (path.startsWith('log/')) changed.objects.delete(path)
    expectProblem(await proofOf(RETRIED, await serviceOver(changed, [])), 404, /keeps no public log/)
  })

  test('until the release is logged: the call says when to ask again', async () => {
    const changed = copyOf(store)
    for (const size of [3, 4, 5]) changed.objects.delete(logCheckpointPath(size))
    const client = await serviceOver(changed)
    const [first, , , , , third] = acknowledged
    expect((await proofOf(idOf(first!), client)).status).toBe(200)
    const answer = await proofOf(idOf(third!), client)
    expectProblem(answer, 503, /release 3 is published and not in the public log yet/)
    expect(answer.headers['retry-after']).toBe('5')
    await writeLog(changed, LAST)
    await expect.poll(async () => (await proofOf(idOf(third!), client)).status).toBe(200)
  })
})

test('a release that was thinned still has the proofs of its forecasts', async () => {
  const changed = copyOf(store)
  await thinReleases({ store: changed, now: clock.now, log: () => undefined }, LAST, 1)
  const client = await serviceOver(changed)
  for (const one of acknowledged) expect((await proofOf(idOf(one), client)).status).toBe(200)
})

describe('damage', () => {
  const corruptions = async (client: TestService['client']) =>
    Number(
      /fvs_corrupt_total\{environment="production"\} (\d+)/.exec((await client.get('/metrics')).text)![1],
    )

  test.for([0, 15, 16, 47])('of byte %d of the records is found and counted', async (at) => {
    const path = releasePrefix(2) + FORECASTS_TREE_PATH
    const size = (await readManifest(store, 2))!.trees.forecasts!.size
    const changed = copyOf(store)
    const bytes = Buffer.from(store.objects.get(path)!)
    for (let record = 0; record < size; record++) bytes[48 * record + at]! ^= 1
    changed.objects.set(path, bytes)
    const client = await serviceOver(changed)
    const before = await corruptions(client)
    const answer = await proofOf(idOf(acknowledged[0]!), client)
    expectProblem(answer, 503, /damaged/)
    expect(await corruptions(client)).toBe(before + 1)
    expect((await proofOf(idOf(acknowledged[5]!), client)).status).toBe(200)
  })

  test('of the statements in the log is found and counted', async () => {
    const path = logTilePath(`tile/entries/000.p/${LAST}`)
    const changed = copyOf(store)
    const bytes = Buffer.from(store.objects.get(path)!)
    bytes[bytes.indexOf('"as_of":"2026-03-01T12:15') + 24]! ^= 1
    changed.objects.set(path, bytes)
    const client = await serviceOver(changed)
    const before = await corruptions(client)
    expectProblem(await proofOf(RETRIED, client), 503, /damaged/)
    expect(await corruptions(client)).toBe(before + 1)
  })
})

test('the sandbox has the same under its own name', { tags: ['slow'] }, async () => {
  const own = signingKeyOf('fvs.example/sandbox', 'log', new Uint8Array(32).fill(9))
  const sandbox: Components = {
    ...(await testComponents({ store: new MemoryStore(), folder, clock, environment: 'sandbox' })),
    signers: [own],
    newId: () => idAt(clock.now().toISOString()),
  }
  await importRows(sandbox, 'questions', QUESTIONS_CSV)
  const serve = async () => {
    const running = await startService(
      { production: await componentsOver(store), sandbox },
      { scheduler: false },
    )
    return { client: new Client(`${running.url}/sandbox`), stop: () => running.stop() }
  }
  const first = await serve()
  const agent = await registerAgent(first.client)
  const body = { question_id: QUESTION.open, probability: 0.25 }
  const answer = await first.client.post(`/agents/${agent.agentId}/forecast`, body, bearer(agent.key))
  await first.stop()
  await release(sandbox)
  await completeLog(sandbox, 1)
  const { client, stop } = await serve()
  onTestFinished(stop)
  const proof = await proofOf(answer.json<{ forecast_id: string }>().forecast_id, client)
  const { statement, checkpoint } = await check(answer.bytes, proof.text, verifierKeyText(own.verifier))
  expect([statement.environment, checkpoint.origin]).toEqual(['sandbox', 'fvs.example/sandbox'])
  expectProblem(await proofOf(RETRIED, client), 404, /no release has the forecast/)
})

test('the proof in the OpenAPI document holds, of its forecast and with its key', async () => {
  const { tree, statement } = await check(
    canonical(acknowledgedForecast),
    logExamples().forecastProof,
    logExamples().vkeys.trim(),
  )
  expect([tree, statement.release]).toEqual(['forecasts', 214])
})
