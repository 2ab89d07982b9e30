// `fvs serve --workers`: quotas over all of them, workers and primaries that are killed, and the end.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  BULK,
  FOUND,
  bulkOf,
  expectLimited,
  idOf,
  remaining,
  storm,
  timesThrough,
  withKey,
} from '../support/http/counted-calls.ts'
import { suiteFolder, testFolder } from '../support/folder.ts'
import { nodeWorld } from '../support/http/nodes.ts'
import { type ServingProcess, fvs, fvsServe } from '../support/process.ts'
import { Client, bearer, registerAgent, release, testComponents } from '../support/http/service.ts'
import { expectKept, submitMany } from '../support/http/submissions.ts'
import { QUESTION, copyReleasedWorld, importWorld } from '../support/worlds/world.ts'

const released = await suiteFolder()
const imported = await suiteFolder()
beforeAll(async () => {
  await copyReleasedWorld((await testComponents({ folder: released })).store)
  await importWorld(await testComponents({ folder: imported }))
})

const WORKERS = ['--workers', '3'] as const

async function freshNode(env: Record<string, string> = {}): Promise<ServingProcess & { folder: string }> {
  const folder = await testFolder()
  await cp(join(imported, 'store'), join(folder, 'store'), { recursive: true })
  const variables = { STORE_URL: join(folder, 'store'), SHUTDOWN_TIMEOUT_MS: '600000', ...env }
  return { folder, ...(await fvsServe({ folder, env: variables }, '--no-scheduler', ...WORKERS)) }
}

/** The processes that a process has started. */
function workersOf({ pid }: { pid: number }): number[] {
  return execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map(Number)
}

/** Also false of one that has ended and that nobody has asked about yet. */
function isAlive(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z')
  } catch {
    return false
  }
}

describe('quotas over three workers', () => {
  test('let each of 50 free keys through exactly 100 times, with a restart in between', async () => {
    const { node, newKeys, used } = await nodeWorld(released, { SHUTDOWN_TIMEOUT_MS: '600000' }, ...WORKERS)
    const keys = await newKeys(50)
    const first = await node()
    const before = await storm([first.client], keys, 60)
    await first.stop()
    const second = await node()
    const after = await storm([second.client], keys, 140)
    expect(before.failed + after.failed).toBe(0)
    const totals = keys.map((key) => (before.through.get(key) ?? 0) + (after.through.get(key) ?? 0))
    expect(totals).toEqual(keys.map(() => 100))
    for (const key of keys) expectLimited(await second.client.get(FOUND, withKey(key)), 'monthly-calls')
    await second.stop()
    const written = await used()
    expect(keys.map((key) => written.get(idOf(key)))).toEqual(keys.map(() => 100))
  })

  test('are exact also where parts of them are leased', async () => {
    const { node, newKeys } = await nodeWorld(released, { FREE_MONTHLY_CALLS: '1000' }, ...WORKERS)
    const keys = await newKeys(2)
    const { client, stop } = await node()
    const result = await storm([client], keys, 1_500)
    expect(result.failed).toBe(0)
    expect(timesThrough(result)).toEqual({ 1000: 2 })
    await stop()
  })

  test('count bulk calls with all others', async () => {
    const { node, newKeys } = await nodeWorld(released, {}, ...WORKERS)
    const [key] = await newKeys(1)
    const { client, stop } = await node()
    const headers = withKey(key!)
    const answers = await Promise.all(
      Array.from({ length: 150 }, (_, nth) =>
        nth % 2 === 0 ? client.get(FOUND, headers) : client.post(BULK, bulkOf(2), headers),
      ),
    )
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([...Array<number>(100).fill(200), ...Array<number>(50).fill(429)])
    await stop()
  })

  test('limit reads and failed calls too, whichever worker answers', async () => {
    const { node } = await nodeWorld(
      released,
      { ATTEMPTS_PER_MINUTE: '5', READS_PER_MINUTE: '9' },
      ...WORKERS,
    )
    const { client, url, stop } = await node()
    const reads = await Promise.all(
      Array.from({ length: 9 }, () => remaining(client.get('/questions?limit=1'))),
    )
    expect(reads.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    expectLimited(await new Client(url).get('/questions'), 'reads')
    const wrong = { 'X-API-Key': 'fv_live_wrong' }
    for (let call = 0; call < 5; call += 1) {
      expect((await new Client(url).get(FOUND, wrong)).status).toBe(401)
    }
    await expect.poll(async () => (await new Client(url).get(FOUND, wrong)).status).toBe(429)
    await stop()
  })
})

describe('a worker that is killed', () => {
  test('is replaced while agents submit, and no acknowledged forecast is lost', async () => {
    const node = await freshNode()
    const [first] = workersOf(node)
    const outcome = await submitMany(node.url, 1_000, 300, () => {
      process.kill(first!, 'SIGKILL')
    })
    expect(outcome.acknowledged.size).toBeGreaterThan(600)
    await node.logged(/"signal":"SIGKILL".*a worker has ended; another one takes its place/)
    await expect.poll(() => workersOf(node).length).toBe(3)
    expect(workersOf(node)).not.toContain(first)
    node.kill('SIGTERM')
    expect((await node.finished).code).toBe(0)
    await release(await testComponents({ folder: node.folder }))
    await expectKept(node.folder, outcome)
  })

  test('leaves no caller waiting whose connection it had not taken yet', async () => {
    const node = await freshNode()
    const [first] = workersOf(node)
    process.kill(first!, 'SIGSTOP')
    // Node hands a worker one connection at a time.
    let [answered, ended] = [0, 0]
    for (let call = 0; call < 6; call += 1) {
      new Client(node.url).get('/livez').then(
        () => (answered += 1),
        () => (ended += 1),
      )
    }
    await expect.poll(() => answered).toBe(5)
    expect(ended).toBe(0)
    process.kill(first!, 'SIGKILL')
    await expect.poll(() => ended).toBe(1)
  })
})

describe.for(['primary', 'group'] as const)('a signal to the %s', (to) => {
  test('has all workers answer what is under way, and ends with 0', async () => {
    const node = await freshNode()
    const workers = workersOf(node)
    const outcome = await submitMany(node.url, 500, 200, () => {
      if (to === 'group') for (const worker of workers) process.kill(worker, 'SIGINT')
      node.kill(to === 'group' ? 'SIGINT' : 'SIGTERM')
    })
    const { code, stdout, stderr } = await node.finished
    expect(code, stderr).toBe(0)
    expect(stdout).toBe('')
    expect(workers.filter(isAlive)).toEqual([])
    await release(await testComponents({ folder: node.folder }))
    // No submission that was refused or unanswered was recorded.
    expect(await expectKept(node.folder, outcome)).toBe(outcome.acknowledged.size)
  })
})

test('a second signal to the primary ends it and its workers at once, whatever is under way', async () => {
  const node = await freshNode()
  const workers = workersOf(node)
  const { hostname, port } = new URL(node.url)
  const socket = connect({ host: hostname, port: Number(port) })
  onTestFinished(() => void socket.destroy())
  const head = [
    'POST /agents/register HTTP/1.1',
    'Host: x',
    'Content-Type: application/json',
    'Content-Length: 9',
  ]
  socket.write([...head, 'Expect: 100-continue', '', ''].join('\r\n'))
  // The rest of the request never comes.
  await once(socket, 'data')
  node.kill('SIGTERM')
  await node.logged(/"msg":"stopping/)
  // One that comes within a second is the same signal, sent to the whole group.
  await expect
    .poll(() => {
      node.kill('SIGTERM')
      return isAlive(node.pid)
    })
    .toBe(false)
  expect((await node.finished).code).toBe(143)
  await expect.poll(() => workers.filter(isAlive)).toEqual([])
})

test('a primary that is killed leaves no worker behind, and loses no acknowledged forecast', async () => {
  const node = await freshNode()
  const workers = workersOf(node)
  const outcome = await submitMany(node.url, 500, 200, () => {
    node.kill('SIGKILL')
  })
  // The output of the workers ends with the last of them.
  await node.finished
  expect(workers.filter(isAlive)).toEqual([])
  await release(await testComponents({ folder: node.folder }))
  await expectKept(node.folder, outcome)
})

test('a forecast is read back at once, whichever worker answers, and measurements add up', async () => {
  const node = await freshNode({ REFRESH_MS: '60000' })
  const { agentId, key } = await registerAgent(new Client(node.url))
  for (let nth = 1; nth <= 30; nth += 1) {
    const probability = nth / 100
    const body = { question_id: QUESTION.open, probability }
    await new Client(node.url).post(`/agents/${agentId}/forecast`, body, bearer(key))
    const answer = await new Client(node.url).get(`/agents/${agentId}/forecasts`, bearer(key))
    expect(answer.json()).toMatchObject({ forecasts: [{ probability }] })
  }
  for (let nth = 0; nth < 3; nth += 1) {
    const { text } = await new Client(node.url).get('/metrics')
    expect(text).toMatch(
      /fvs_http_request_seconds_count\{[^}]*route="\/agents\/:agent_id\/forecast"[^}]*\} 30\n/,
    )
    expect(text).toContain('fvs_current_forecasts{environment="production"} 1\n')
  }
  node.kill('SIGTERM')
  expect((await node.finished).code).toBe(0)
})

describe('a node that cannot start', () => {
  test.for(['0', '-1', '1.5', 'many', '257'])('says what --workers takes instead of %s', async (value) => {
    const { code, stderr } = await fvs(['serve', `--workers=${value}`], { folder: await testFolder() })
    expect(code).toBe(2)
    expect(stderr).toContain('a whole number from 1 to 256, or auto for one for each core')
  })

  test('says once why, and leaves no worker', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as { port: number }
    const folder = await testFolder()
    const env = { STORE_URL: join(folder, 'store'), PORT: String(port) }
    const { code, stderr } = await fvs(['serve', ...WORKERS], { folder, env })
    taken.close()
    expect(code).toBe(1)
    expect(stderr.match(/port \d+ on 127\.0\.0\.1 is taken; set PORT/g)).toHaveLength(1)
  })
})
