// A store that does not answer, or holds what is damaged: what callers are told, and what still works.
import { beforeAll, describe, expect, test } from 'vitest'
import { sha256Hex } from '../../../pipeline/proof/canonical.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import { errorLog } from '../../support/http/error-log.ts'
import { testFolder } from '../../support/folder.ts'
import { expectProblem } from '../../support/http/problem.ts'
import { bearer, registerAgent, testComponents, testService } from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { QUESTION, forecasterId, copyReleasedWorld, uuidOf } from '../../support/worlds/world.ts'

/** The released world, for tests to copy. */
const released = new MemoryStore()
beforeAll(() => copyReleasedWorld(released))

describe('a store that does not answer', () => {
  async function failingService() {
    let down = false
    const store = new FaultStore(copyOf(released), {
      before: ({ operation, path }) => {
        if (!down) return
        const reason = `the store did not ${operation} ${path} (ECONNREFUSED 10.0.0.7)`
        throw new ServiceError('unavailable', reason, { retryAfterS: 5 })
      },
    })
    const running = await testService({ store })
    return { ...running, setDown: (value: boolean) => void (down = value) }
  }

  test('makes what needs it 503 with Retry-After and without its details, until it does', async () => {
    const { client, setDown } = await failingService()
    const { agentId, key } = await registerAgent(client)
    const submit = () =>
      client.post(
        `/agents/${agentId}/forecast`,
        { question_id: QUESTION.open, probability: 0.5 },
        bearer(key),
      )
    expect((await submit()).status).toBe(200)
    setDown(true)
    const answers = [
      await submit(),
      await client.post('/agents/register', { name: 'a', model_type: 'm' }),
      await client.get(`/questions/${uuidOf(9, 9)}`),
      await client.get(`/forecaster/${forecasterId(0)}/verification`),
    ]
    for (const answer of answers) {
      expectProblem(
        answer,
        503,
        /^the store did not confirm the write in time|^the store does not answer; try again$/,
      )
      expect(answer.headers['retry-after']).toBe('5')
      expect(answer.text).not.toMatch(/10\.0\.0\.7|registry|tables|releases/)
    }
    setDown(false)
    expect((await submit()).status).toBe(200)
  })

  test('is not noticed by a caller that asks for what was read before', async () => {
    const { client, setDown } = await failingService()
    const path = `/forecaster/${forecasterId(0)}/verification`
    const before = await client.get(path)
    setDown(true)
    expect((await client.get(path)).bytes).toEqual(before.bytes)
    expect((await client.get('/livez')).status).toBe(200)
    expect((await client.get('/questions')).status).toBe(200)
  })
})

describe('damaged objects', () => {
  const DAMAGED = /^what the store holds for this call is damaged; the failure was noted, try again later$/
  const isShard = (path: string) => path.startsWith('releases/00000001/forecaster/')
  const isHistory = (path: string) => /^snapshots\/[\d-]+\/forecaster\//.test(path)
  const VERIFICATION = `/forecaster/${forecasterId(0)}/verification`
  const HISTORY = `/snapshots/forecaster/${forecasterId(0)}`

  /** A copy of the world in which reads of some objects are changed. */
  class DamagedReads extends MemoryStore {
    readonly reads: string[] = []
    readonly #damage: (path: string, bytes: Uint8Array, read: number) => Uint8Array | undefined

    constructor(damage: (path: string, bytes: Uint8Array, read: number) => Uint8Array | undefined) {
      super()
      this.#damage = damage
      for (const [path, bytes] of released.objects) this.objects.set(path, bytes)
    }

    override async get(path: string): Promise<Uint8Array | undefined> {
      const bytes = await super.get(path)
      this.reads.push(path)
      const read = this.reads.filter((each) => each === path).length
      return bytes && this.#damage(path, bytes, read)
    }
  }
  const flipped = (bytes: Uint8Array) => bytes.with(100, bytes[100]! ^ 1)

  test.for([
    ['a flipped bit', flipped],
    ['a truncated body', (bytes: Uint8Array) => bytes.slice(0, 50)],
    ['no body', () => undefined],
  ] as const)('%s in one read of a shard is read once more, and no caller notices', async ([, damage]) => {
    const store = new DamagedReads((path, bytes, read) =>
      read === 1 && (isShard(path) || isHistory(path)) ? damage(bytes) : bytes,
    )
    const { client } = await testService({ store })
    for (const path of [VERIFICATION, HISTORY]) {
      const answer = await client.get(path)
      expect(answer.status, answer.text).toBe(200)
    }
    for (const wanted of [isShard, isHistory]) expect(store.reads.filter(wanted)).toHaveLength(2)
  })

  test('are answered 503 with Retry-After and without what is damaged, and counted', async () => {
    const store = new DamagedReads((path, bytes) =>
      isShard(path) || isHistory(path) ? flipped(bytes) : bytes,
    )
    const logger = errorLog()
    const components = { ...(await testComponents({ store })), logger: logger.logger }
    const { client } = await testService(components)
    const counted = async () =>
      /^fvs_corrupt_total\{environment="production"\} (\d+)$/m.exec((await client.get('/metrics')).text)?.[1]
    expect(await counted()).toBe('0')
    for (const path of [VERIFICATION, `/forecaster/${forecasterId(0)}/metrics`, HISTORY]) {
      const answer = await client.get(path)
      expectProblem(answer, 503, DAMAGED)
      expect(answer.headers['retry-after']).toBe('60')
      expect(answer.text).not.toMatch(/SHA-256|shard|releases/)
    }
    expect(await counted()).toBe('3')
    // Nothing is remembered of a failure, so each call has read the object twice.
    expect(store.reads.filter(isShard)).toHaveLength(4)
    const shard = [...released.objects.keys()].find(isShard)!
    const bytes = released.objects.get(shard)!
    expect(
      logger.lines.map((line) => (JSON.parse(line) as { err: { message: string } }).err.message),
    ).toContain(
      `${shard} must have ${bytes.length} bytes with the SHA-256 ${sha256Hex(bytes)}, as its manifest says; ` +
        `the store has ${bytes.length} bytes with the SHA-256 ${sha256Hex(flipped(bytes))}`,
    )
    expect((await client.get('/livez')).status).toBe(200)
  })

  test('such as a data file that is gone are not taken for a question that is not there', async () => {
    const store = new MemoryStore()
    const { client } = await testService({ store, settings: { REFRESH_MS: '60000' } })
    for (const [key, bytes] of released.objects) {
      if (!/^tables\/questions\/.*\.parquet$/.test(key)) store.objects.set(key, bytes)
    }
    expectProblem(await client.get(`/questions/${QUESTION.open}`), 503, DAMAGED)
    const { client: begun } = await testService({ store, folder: await testFolder() })
    expectProblem(
      await begun.get(`/questions/${QUESTION.open}`),
      503,
      /^this node has not read the questions/,
    )
    expectProblem(await begun.get('/readyz?for=forecasts'), 503, /the questions could not be read/)
  })
})
