// A POST that goes to its route directly, in trouble: a store that fails or is damaged, a client that is slow
// or leaves, and a service that stops. It ends as with Koa alone.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { claimPath, keyPath } from '../../../../pipeline/store/paths.ts'
import { ServiceError } from '../../../../schemas/errors.ts'
import {
  type BothWays,
  expectSame,
  expectSameNotes,
  expectSameStored,
  steady,
} from '../../../support/http/both-ways.ts'
import { idOf } from '../../../support/http/counted-calls.ts'
import { type Call, FaultStore } from '../../../support/faults/fault-store.ts'
import { suiteFolder } from '../../../support/folder.ts'
import { type PostingWorld, postingWorld, worded } from '../../../support/worlds/posting-world.ts'
import { on } from '../../../support/http/posts.ts'
import { RawSocket } from '../../../support/http/raw-socket.ts'
import { FOUND, VALID, bulkOf, forecastOf, forecastsOf } from '../../../support/http/single-posts.ts'
import { QUESTION } from '../../../support/worlds/world.ts'

const folder = await suiteFolder()
let world: PostingWorld
/** Two services whose stores fail where a test wants it. */
let failing: BothWays
let failAt: (call: Call) => void
beforeAll(async () => {
  world = await postingWorld(folder, 20)
  const before = (call: Call) => {
    failAt(call)
  }
  failAt = () => undefined
  failing = await world.bothWays((copy) => new FaultStore(copy, { before }))
})
afterAll(() => failing.stop())

/** Two services that stop with the test; `before` is awaited before each call of their stores. */
async function bothWays(before?: (call: Call) => void | Promise<void>): Promise<BothWays> {
  const ways = await world.bothWays((copy) => (before ? new FaultStore(copy, { before }) : copy))
  onTestFinished(ways.stop)
  return ways
}

/** Both with writes of forecasts that wait until they are let go. */
async function heldWays() {
  const gate = Promise.withResolvers<void>()
  onTestFinished(() => {
    gate.resolve()
  })
  let held = 0
  const ways = await bothWays(({ operation, path }) => {
    if (operation !== 'putIfAbsent' || !path.startsWith('inbox/forecasts/')) return undefined
    held += 1
    return gate.promise
  })
  return { ways, letGo: gate.resolve, areHeld: () => expect.poll(() => held).toBe(2) }
}

async function expectAllSame(ways: BothWays): Promise<void> {
  expectSameStored(ways)
  await expectSameNotes(ways)
}

const KEYED = forecastOf({ more: ['Idempotency-Key: a-key'] })

test.for<[string, RegExp, string]>([
  ['a key', /^registry\/keys\//, forecastOf()],
  ['an agent', /^registry\/retired\//, forecastOf()],
  ['a write', /^inbox\/forecasts\//, forecastOf()],
  ['a write of many', /^inbox\/forecasts\//, forecastsOf([on(QUESTION.open), on(QUESTION.closed)])],
  ['a claim', /^idempotency\//, KEYED],
  ['a write after its claim', /^inbox\/forecasts\//, KEYED],
  ['what is published', /^releases\/.*forecaster/, bulkOf(FOUND, { key: [] })],
])('a store that fails at %s is answered as by Koa, and so is the next call', async ([, path, request]) => {
  // Listings are what a node looks at by itself, whenever that is.
  const failWith = (error: Error) => (call: Call) => {
    if (call.operation !== 'list' && path.test(call.path)) throw error
  }
  const words = world.nextWords()
  const answer = () => expectSame(failing, [worded(request, words)])
  failing.early = 0
  failAt = failWith(new ServiceError('unavailable', 'the test lets it fail'))
  expect(await answer()).toMatch(/^HTTP\/1\.1 503 [^]*^Retry-After: 5\r$/m)
  failAt = failWith(new Error('the test lets it break'))
  expect(await answer()).toMatch(/^HTTP\/1\.1 50[03] /)
  failAt = () => undefined
  expect(await answer()).toMatch(/^HTTP\/1\.1 200 /)
  expect(failing.early).toBe(3)
  expectSameStored(failing)
})

test('what a store that fails has brought about is counted, measured and logged as by Koa', async () => {
  await expectSameNotes(failing)
})

test.for<[string, (words: ReadonlyMap<string, string>) => RegExp | string, string]>([
  ['a key', (words) => keyPath(idOf(words.get('{key}')!)), forecastOf()],
  ['a claim', (words) => claimPath(`forecast ${words.get('{agent}')}`, 'a-key'), KEYED],
  ['what is published', () => /^releases\/.*forecaster\/.*\.json$/, bulkOf(FOUND)],
])('%s that is damaged is answered and counted as by Koa', async ([, pathOf, request]) => {
  const ways = await bothWays()
  const words = world.nextWords()
  const wanted = pathOf(words)
  for (const { store } of ways.sides) {
    const paths =
      typeof wanted === 'string' ? [wanted] : [...store.objects.keys()].filter((path) => wanted.test(path))
    expect(paths).not.toEqual([])
    for (const path of paths) store.objects.set(path, Buffer.from('damaged'))
  }
  ways.early = 0
  expect(await expectSame(ways, [worded(request, words)])).toMatch(/^HTTP\/1\.1 503 [^]*^Retry-After: 60\r$/m)
  expect(ways.early).toBe(1)
  const { text } = await ways.sides[0].service.client.get('/metrics')
  expect(text).toContain('fvs_corrupt_total{environment="production"} 1\n')
  await ways.sides[1].service.client.get('/metrics')
  await expectSameNotes(ways)
})

test('a body that comes long after its head is read as by Koa', async () => {
  const ways = await bothWays()
  const request = worded(forecastOf({ more: ['Connection: close'] }), world.nextWords())
  ways.early = 0
  const sockets = await Promise.all(ways.sides.map(({ service }) => RawSocket.open(service.url)))
  const from = request.indexOf(VALID)
  for (const socket of sockets) socket.send(request.slice(0, from))
  await expect.poll(() => ways.early).toBe(1)
  for (const part of [request.slice(from, from + 9), request.slice(from + 9)]) {
    for (const socket of sockets) socket.send(part)
  }
  const [before, koa] = await Promise.all(sockets.map(({ closed }) => closed))
  expect(before).toMatch(/^HTTP\/1\.1 200 /)
  expect(steady(before!)).toBe(steady(koa!))
  await expectAllSame(ways)
})

test('a client that leaves before its answer has its forecast recorded as by Koa', async () => {
  const { ways, letGo, areHeld } = await heldWays()
  const request = worded(forecastOf(), world.nextWords())
  const sockets = await Promise.all(ways.sides.map(({ service }) => RawSocket.open(service.url)))
  for (const socket of sockets) socket.send(request)
  await areHeld()
  for (const { socket } of sockets) socket.destroy()
  await Promise.all(sockets.map(({ closed }) => closed))
  letGo()
  for (const { logged } of ways.sides) {
    await expect.poll(() => logged.filter((line) => line.includes('/forecast')).length).toBe(1)
  }
  await expectAllSame(ways)
})

test('a client that leaves within its body is noted as by Koa', async () => {
  const ways = await bothWays()
  const request = worded(forecastOf(), world.nextWords())
  ways.early = 0
  const sockets = await Promise.all(ways.sides.map(({ service }) => RawSocket.open(service.url)))
  for (const socket of sockets) socket.send(request.slice(0, -9))
  await expect.poll(() => ways.early).toBe(1)
  for (const { socket } of sockets) socket.resetAndDestroy()
  for (const { logged } of ways.sides) {
    await expect.poll(() => logged.filter((line) => line.includes('/forecast')).length).toBe(1)
  }
  await expectAllSame(ways)
})

test('an answer that is sent while the service stops is the last of its connection, as by Koa', async () => {
  const { ways, letGo, areHeld } = await heldWays()
  const answered = expectSame(ways, [worded(forecastOf(), world.nextWords())])
  await areHeld()
  const stopped = ways.stop()
  letGo()
  const text = await answered
  await stopped
  expect(text).toMatch(/^HTTP\/1\.1 200 [^]*^Connection: close\r$/m)
  expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1)
  expectSameStored(ways)
})
