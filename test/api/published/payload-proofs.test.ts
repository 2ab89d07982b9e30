// Whoever has a payload, its proof and the public key of the log can check, with nothing else, that the
// payload was published.
import { describe, expect } from 'vitest'
import { logExamples } from '../../../api/openapi/log-examples.ts'
import { PUBLICATIONS as EXAMPLES } from '../../../api/openapi/examples.ts'
import { canonical } from '../../../pipeline/proof/canonical.ts'
import { parseVerifierKey } from '../../../pipeline/proof/note-keys.ts'
import { type VerifiedProof, verifyProof } from '../../../pipeline/proof/verify.ts'
import { noteThinned } from '../../../pipeline/release/read.ts'
import { logCheckpointPath, releasePrefix } from '../../../pipeline/store/paths.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { PUBLICATIONS } from '../../../schemas/metric.ts'
import { ENTITY_TYPES } from '../../../schemas/tables.ts'
import { suiteFolder } from '../../support/folder.ts'
import { expectProblem, pointersOf } from '../../support/http/problem.ts'
import { test } from '../../support/http/fixtures.ts'
import {
  Clock,
  type TestService,
  release,
  startTestService,
  testComponents,
  testService,
} from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { FORECASTERS, copyReleasedWorld, forecasterId, uuidOf } from '../../support/worlds/world.ts'
import { LOG_KEY, LOG_VKEY, writeLog } from '../../support/worlds/written-log.ts'

const LATER = '2026-03-01T13:00:00.000Z'
const KINDS = ['verification', 'metrics', 'rankings', 'advanced-metrics']
const folder = await suiteFolder()
const clock = new Clock(LATER)

/** Two releases, both logged. */
const store = new MemoryStore()
let paths: string[]
/** The payloads of each release, as they were served while it was the current one. */
const bodies = [new Map<string, Buffer>(), new Map<string, Buffer>()] as const
let service: TestService

async function serviceOver(over: MemoryStore, signers = [LOG_KEY]) {
  return startTestService({ ...(await testComponents({ store: over, folder, clock })), signers })
}

test.beforeAll(async ({ serve }) => {
  const { agentId } = await copyReleasedWorld(store)
  const forecasters = Array.from({ length: FORECASTERS }, (_, index) => `/forecaster/${forecasterId(index)}`)
  paths = [`/agents/${agentId}`, ...forecasters].flatMap((entity) => KINDS.map((kind) => `${entity}/${kind}`))
  const first = await serviceOver(store)
  for (const path of paths) bodies[0].set(path, (await first.client.get(path)).bytes)
  await first.stop()
  await release(await testComponents({ store, folder, clock: new Clock(LATER) }))
  await writeLog(store, 2)
  service = await serve({ ...(await testComponents({ store, folder, clock })), signers: [LOG_KEY] })
  for (const path of paths) bodies[1].set(path, (await service.client.get(path)).bytes)
})

/** The check that anyone can make. */
function check(body: Uint8Array, proof: string, vkey = LOG_VKEY): Promise<VerifiedProof> {
  return verifyProof(body, proof, { keys: [parseVerifierKey(vkey)], witnesses: [], leastCosignatures: 0 })
}

describe.for([1, 2])('of release %d', (number) => {
  const body = (path: string) => bodies[number - 1]!.get(path)!
  const proofFor = async (path: string) => {
    const answer = await service.client.get(`${path}/proof?release=${number}`)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
    return answer.text
  }

  test('every payload of every entity has a proof that holds with the public key alone', async () => {
    expect(paths).toHaveLength((1 + FORECASTERS) * KINDS.length)
    for (const path of paths) {
      const { tree, statement, checkpoint } = await check(body(path), await proofFor(path))
      expect(statement.release).toBe(number)
      expect(tree).toBe(path.startsWith('/agents') ? 'agent' : 'forecaster')
      expect(checkpoint.size).toBe(2)
    }
  })

  test('no proof holds for a payload with one byte changed', async () => {
    for (const path of paths) {
      const proof = await proofFor(path)
      const { length } = body(path)
      for (const at of [0, length >> 1, length - 1]) {
        const changed = Buffer.from(body(path))
        changed[at]! ^= 1
        await expect(check(changed, proof), `${path} at ${at}`).rejects.toThrow(ServiceError)
      }
    }
  })

  test('no proof holds for the payload of another entity, kind or release', async () => {
    const proof = await proofFor(paths[5]!)
    for (const each of bodies) {
      for (const [path, other] of each) {
        if (path === paths[5] && each === bodies[number - 1]) continue
        await expect(check(other, proof), path).rejects.toThrow(ServiceError)
      }
    }
  })
})

describe('a proof', () => {
  const get = (query = '', path = paths[0]!) => service.client.get(`${path}/proof${query}`)

  test('is of the current release where none is named, as a web page may read it', async () => {
    const { text, headers } = await get()
    expect(text).toBe((await get('?release=2')).text)
    expect(text).not.toBe((await get('?release=1')).text)
    expect(headers['cache-control']).toBe('public, max-age=60')
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(headers).not.toHaveProperty('vary')
  })

  test('ends in the checkpoint, verbatim', async () => {
    const checkpoint = Buffer.from(store.objects.get(logCheckpointPath(2))!).toString()
    expect((await get()).text.endsWith(`\n\n${checkpoint}`)).toBe(true)
    expect((await service.client.get('/log/checkpoint')).text).toBe(checkpoint)
  })

  test('answers 422 to what is no release', async () => {
    for (const wrong of ['0', '-1', '01', '1.0', 'current', '', '123456789'])
      expect(pointersOf(await get(`?release=${wrong}`)), wrong).toEqual(['/release'])
  })

  test('answers 404 to a release that has not been made', async () => {
    expectProblem(await get('?release=3'), 404, /there is no release 3: the current one is 2/)
    expect((await get('?release=3')).json()).toMatchObject({ type: '/problems/not-released-yet' })
  })

  test('answers 404 to an entity that the release does not have', async () => {
    const unknown = uuidOf(9, 9)
    expectProblem(await get('', `/agents/${unknown}/metrics`), 404, /there is no agent/)
    expectProblem(await get('', `/forecaster/${unknown}/metrics`), 404, /no release has a forecaster/)
    expectProblem(await get('?release=1', `/agents/${unknown}/metrics`), 404, /release 1 has no agent/)
  })
})

describe('there is no proof', () => {
  const over = async (changed: MemoryStore, signers = [LOG_KEY]) => {
    const { client } = await testService({
      ...(await testComponents({ store: changed, folder, clock })),
      signers,
    })
    return (number: number) => client.get(`${paths[0]}/proof?release=${number}`)
  }

  test('where there is no log', async () => {
    const changed = copyOf(store)
    for (const path of changed.objects.keys()) if (path.startsWith('log/')) changed.objects.delete(path)
    expectProblem(await (await over(changed, []))(1), 404, /keeps no public log/)
  })

  test('until the release is logged: the call says when to ask again', async () => {
    const changed = copyOf(store)
    const checkpoint = changed.objects.get(logCheckpointPath(2))!
    changed.objects.delete(logCheckpointPath(2))
    const get = await over(changed)
    expect((await get(1)).status).toBe(200)
    const answer = await get(2)
    expectProblem(answer, 503, /release 2 is published and not in the public log yet/)
    expect(answer.headers['retry-after']).toBe('5')
    changed.objects.set(logCheckpointPath(2), checkpoint)
    await expect.poll(async () => (await get(2)).status).toBe(200)
  })

  test('of a release that was thinned', async () => {
    const changed = copyOf(store)
    await noteThinned(changed, 1, new Date(LATER))
    for (const path of changed.objects.keys())
      if (path.startsWith(`${releasePrefix(1)}agent/`)) changed.objects.delete(path)
    const answer = await (await over(changed))(1)
    expect(answer.json()).toMatchObject({ status: 404, type: '/problems/release-thinned' })
  })
})

test('the proofs in the OpenAPI document hold, of its payloads and with its key', async () => {
  const examples = logExamples()
  for (const entityType of ENTITY_TYPES) {
    for (const kind of PUBLICATIONS) {
      const proof = examples.proofOf(entityType, kind)
      const { statement } = await check(canonical(EXAMPLES[entityType][kind]), proof, examples.vkeys.trim())
      expect(statement.release).toBe(214)
      expect(proof.endsWith(examples.checkpoint)).toBe(true)
    }
  }
})
