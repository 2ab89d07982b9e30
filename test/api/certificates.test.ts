// Certificates over HTTP: one file with the record, its proof and the keys of the log.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { logExamples } from '../../api/openapi/log-examples.ts'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { verifyCertificate } from '../../pipeline/proof/certificate.ts'
import { parseVerifierKey } from '../../pipeline/proof/note-keys.ts'
import { logCheckpointPath } from '../../pipeline/store/paths.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { DOES_NOT_SHOW } from '../../schemas/certificate.ts'
import { ENTITY_TYPES } from '../../schemas/tables.ts'
import { suiteFolder } from '../support/folder.ts'
import { expectProblem } from '../support/http/problem.ts'
import {
  Clock,
  type TestService,
  startTestService,
  testComponents,
  testService,
} from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'
import { STRANGER } from '../support/worlds/proof-world.ts'
import { NOW, copyReleasedWorld, forecasterId, uuidOf } from '../support/worlds/world.ts'
import { LOG_KEY, LOG_VKEY, writeLog } from '../support/worlds/written-log.ts'

const folder = await suiteFolder()
const store = new MemoryStore()
const clock = new Clock(NOW)
let agentId: string
let service: TestService
beforeAll(async () => {
  ;({ agentId } = await copyReleasedWorld(store))
  await writeLog(store, 1)
  service = await startTestService({
    ...(await testComponents({ store, folder, clock })),
    signers: [LOG_KEY],
  })
})
afterAll(() => service.stop())

/** A service of a test's own over another store. */
async function over(changed: MemoryStore, signers = [LOG_KEY]) {
  const { client } = await testService({
    ...(await testComponents({ store: changed, folder, clock })),
    signers,
  })
  return (path = `/agents/${agentId}`) => client.get(`${path}/certificate.fvs`)
}

describe('GET …/certificate.fvs', () => {
  test.each([
    ['agent', () => `/agents/${agentId}`],
    ['forecaster', () => `/forecaster/${forecasterId(0)}`],
  ] as const)(
    'answers one file with the record of one %s, its proof and the keys',
    async (entityType, pathOf) => {
      const path = pathOf()
      const answer = await service.client.get(`${path}/certificate.fvs`)
      expect(answer.status, answer.text).toBe(200)
      const id = path.split('/')[2]!
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json',
        'content-disposition': `attachment; filename="certificate-${id}.fvs"`,
        'cache-control': 'public, max-age=60',
        'access-control-allow-origin': '*',
      })
      expect(Buffer.from(canonical(answer.json()))).toEqual(answer.bytes)
      expect(answer.json()).toEqual({
        format: 'forecast-verification/certificate@1',
        payload: (await service.client.get(`${path}/verification`)).json(),
        proof: (await service.client.get(`${path}/verification/proof`)).text,
        vkeys: [LOG_VKEY],
        does_not_show: DOES_NOT_SHOW[entityType],
      })
    },
  )

  test('answers 404 to whom no release has, and where there is no log', async () => {
    const unknown = uuidOf(9, 9)
    const get = await over(copyOf(store))
    expectProblem(await get(`/agents/${unknown}`), 404, /there is no agent/)
    expectProblem(await get(`/forecaster/${unknown}`), 404, /no release has a forecaster/)
    const without = copyOf(store)
    for (const path of without.objects.keys()) if (path.startsWith('log/')) without.objects.delete(path)
    expectProblem(await (await over(without, []))(), 404, /keeps no public log/)
  })

  test('answers 503 until the release is logged, and says when to ask again', async () => {
    const changed = copyOf(store)
    const checkpoint = changed.objects.get(logCheckpointPath(1))!
    changed.objects.delete(logCheckpointPath(1))
    const get = await over(changed)
    const answer = await get()
    expectProblem(answer, 503, /release 1 is published and not in the public log yet/)
    expect(answer.headers['retry-after']).toBe('5')
    changed.objects.set(logCheckpointPath(1), checkpoint)
    await expect.poll(async () => (await get()).status).toBe(200)
  })

  test('names no key where the node that answers has none, or only keys that have not signed', async () => {
    for (const signers of [[], [STRANGER]]) {
      const answer = await (await over(copyOf(store), signers))()
      expect(answer.json()).toMatchObject({ vkeys: [] })
    }
  })
})

test.each(ENTITY_TYPES)(
  'the certificate of one %s in the OpenAPI document holds by its key',
  (entityType) => {
    const { certificateOf, vkeys } = logExamples()
    const trust = { keys: [parseVerifierKey(vkeys.trim())], witnesses: [], leastCosignatures: 0 }
    expect(verifyCertificate(canonical(certificateOf(entityType)), trust)).toMatchObject({ tree: entityType })
  },
)
