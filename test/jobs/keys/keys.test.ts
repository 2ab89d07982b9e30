// `fvs keys` as an operator uses it, and the same keys in a serving process. No secret is ever shown again.
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createKey, listKeys, revokeKey, rotateKey } from '../../../jobs/keys/keys.ts'
import type { Components } from '../../../jobs/components/components.ts'
import { MISSING, idOf, quotaIn, withKey } from '../../support/http/counted-calls.ts'
import { testFolder } from '../../support/folder.ts'
import { type Finished, fvs, fvsServe } from '../../support/process.ts'
import { Client, Clock, bearer, registerAgent, testComponents } from '../../support/http/service.ts'

const NOW = '2026-03-01T12:00:00.000Z'
const TOMORROW = '2026-03-02T12:00:00.000Z'

const secretOf = (key: string) => key.slice(-38)
/** Decoded until nothing is left to decode, as a reader of the log could. */
const percentDecoded = (text: string): string => {
  const once = text.replace(/%([2-7][0-9a-f])/gi, (_code, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  )
  return once === text ? text : percentDecoded(once)
}
const keyOf = ({ json }: { json: object }) => (json as { api_key: string }).api_key

/** The path and the bytes of every file below a folder, as text. */
async function contentsOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const path = join(entry.parentPath, entry.name)
        return `${path}\n${await readFile(path, 'latin1')}`
      }),
  )
}

describe('fvs keys', () => {
  const runIn =
    (folder: string) =>
    (...args: string[]) =>
      fvs(['keys', ...args], { folder, env: { STORE_URL: join(folder, 'store') } })
  const created = ({ code, stdout, stderr }: Finished) => {
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout) as Record<string, unknown> & { api_key: string }
  }

  test('create issues keys of every tier in both environments, and list shows everything except the keys', async () => {
    const folder = await testFolder()
    const run = runIn(folder)
    const create = async (...args: string[]) => created(await run('create', '--json', ...args))
    const keys = await Promise.all([
      create('--owner', 'Ada', '--tier', 'free'),
      create('--owner', 'Bob'),
      create('--owner', 'Cyd', '--tier', 'pro'),
      create('--owner', 'Dan', '--tier', 'enterprise', '--monthly-calls', '123456'),
      create('--owner', 'Eve', '--environment', 'sandbox'),
    ])
    const grants = keys.map(({ environment, owner, tier, monthly_calls }) => {
      return { environment, owner, tier, monthly_calls }
    })
    expect(grants).toEqual([
      { environment: 'production', owner: 'Ada', tier: 'free', monthly_calls: null },
      { environment: 'production', owner: 'Bob', tier: 'free', monthly_calls: null },
      { environment: 'production', owner: 'Cyd', tier: 'pro', monthly_calls: null },
      { environment: 'production', owner: 'Dan', tier: 'enterprise', monthly_calls: 123456 },
      { environment: 'sandbox', owner: 'Eve', tier: 'free', monthly_calls: null },
    ])
    for (const { api_key: key, environment } of keys) {
      expect(key).toMatch(environment === 'sandbox' ? /^fv_test_/ : /^fv_live_/)
    }
    const [plain, json, sandbox] = await Promise.all([
      run('list'),
      run('list', '--json'),
      run('list', '--environment', 'sandbox'),
    ])
    for (const { api_key: key } of keys.slice(0, 4)) {
      expect(plain.stdout).toContain(idOf(key))
      expect(json.stdout).toContain(idOf(key))
      expect(sandbox.stdout).not.toContain(idOf(key))
    }
    expect(plain.stdout).toMatch(/in force {2}enterprise \(123456 calls a month\) {2}client Dan$/m)
    expect(sandbox.stdout).toContain(idOf(keys[4].api_key))
    const shown = plain.stdout + json.stdout + sandbox.stdout
    const stored = await contentsOf(join(folder, 'store'))
    expect(stored.length).toBeGreaterThanOrEqual(keys.length)
    for (const { api_key: key } of keys) {
      for (const text of [shown, ...stored]) expect(text).not.toContain(secretOf(key))
    }
  })

  test('set-tier gives a key another quota, and refuses one that its tier does not have', async () => {
    const folder = await testFolder()
    const run = runIn(folder)
    const { api_key: key } = created(await run('create', '--owner', 'Ada', '--json'))
    const raised = await run('set-tier', idOf(key), '--tier', 'enterprise', '--monthly-calls', '123456')
    expect(raised.stdout).toBe(`${idOf(key)} of client Ada has the tier enterprise, 123456 calls a month\n`)
    const refusals = [
      await run('set-tier', idOf(key), '--tier', 'pro', '--monthly-calls', '7'),
      await run('set-tier', 'nobodys0', '--tier', 'pro'),
      await run('set-tier', idOf(key)),
    ]
    expect(refusals.map(({ code }) => code)).toEqual([1, 1, 2])
    expect(refusals[1]!.stderr).toMatch(/no key has the id "nobodys0"/)
    const [record] = ((await listKeys(await testComponents({ folder }))).json as { keys: object[] }).keys
    expect(record).toMatchObject({ tier: 'enterprise', monthly_calls: 123456 })
  })

  test.for([
    [['--tier', 'enterprise'], 1, /an enterprise key needs --monthly-calls/],
    [['--tier', 'pro', '--monthly-calls', '7'], 1, /--monthly-calls is for enterprise keys; pro ones/],
    [['--monthly-calls', '7'], 1, /--monthly-calls is for enterprise keys; free ones/],
    [['--tier', 'gold'], 2, /Allowed choices are free, pro, enterprise/],
    [['--tier', 'enterprise', '--monthly-calls', '1e3'], 2, /must be a whole number/],
    [['--tier', 'enterprise', '--monthly-calls', '-1'], 2, /must be a whole number/],
    [['--environment', 'test'], 2, /Allowed choices are production, sandbox/],
  ] as const)('create %j is refused', async ([args, code, message]) => {
    const folder = await testFolder()
    const refused = await runIn(folder)('create', '--owner', 'Ada', ...args)
    expect(refused.stderr).toMatch(message)
    expect([refused.code, refused.stdout]).toEqual([code, ''])
    expect(await listKeys(await testComponents({ folder }))).toMatchObject({ text: 'no keys' })
  })

  test('rotate prints the new key once, also for a revoked one, and exits with 1 the second time', async () => {
    const folder = await testFolder()
    const run = runIn(folder)
    const { api_key: old } = created(await run('create', '--owner', 'Ada', '--json'))
    const rotated = await run('rotate', idOf(old))
    expect(rotated.stdout).toMatch(
      /^fv_live_\w+\nKeep it: .* The key \w+ of client Ada works until \S+Z\.\n$/,
    )
    const next = rotated.stdout.split('\n')[0]!
    const [again, revoked, whole] = [
      await run('rotate', idOf(old)),
      await run('revoke', idOf(next)),
      await run('revoke', old),
    ]
    expect([again.code, again.stdout]).toEqual([1, ''])
    expect(again.stderr).toMatch(/was rotated already, with its end at/)
    expect(revoked.stdout).toMatch(new RegExp(`^${idOf(next)} was revoked at \\S+Z\n$`))
    expect((await run('rotate', idOf(next))).stdout).toMatch(/ stays revoked, since \S+Z\.\n$/)
    expect(whole.code).toBe(1)
    expect(whole.stderr).toMatch(/a whole API key was given, .* name the key by its id/)
    expect(whole.stderr).not.toContain(secretOf(old))
  })
})

describe('a key is named', () => {
  test.for([
    ['by its id alone', (key: string) => idOf(key)],
    ['by its id with its prefix', (key: string) => `fv_live_${idOf(key)}`],
  ] as const)('%s', async ([, named]) => {
    const components = await testComponents({ clock: new Clock(NOW) })
    const key = keyOf(await createKey(components, { owner: 'Ada', tier: 'free' }))
    const rotated = await rotateKey(components, named(key))
    expect(rotated.json).toMatchObject({ replaces: idOf(key) })
    const next = keyOf(rotated)
    expect((await revokeKey(components, named(next))).json).toMatchObject({ key_id: idOf(next) })
  })

  test('by nothing that holds its secret, which no message shows', async () => {
    const components = await testComponents({ clock: new Clock(NOW) })
    const key = keyOf(await createKey(components, { owner: 'Ada', tier: 'free' }))
    const wrong: [string, RegExp][] = [
      [key, /^a whole API key was given/],
      [key.slice(0, -1), /^a whole API key was given/],
      [` ${key}`, /^a whole API key was given/],
      [secretOf(key), /^what was given, 38 characters, is not the id of a key/],
      [key.slice('fv_live_'.length), /^what was given, 47 characters/],
      ['', /^what was given, 0 characters/],
      [`fv_test_${idOf(key)}`, /begins with fv_test_ is not one of production/],
      ['fv_live_nobodys0', /no key has the id "nobodys0"/],
    ]
    for (const act of [revokeKey, rotateKey]) {
      for (const [text, message] of wrong) {
        const error = await act(components, text).then(
          () => undefined,
          (thrown: unknown) => thrown as Error,
        )
        expect(error?.message, text).toMatch(message)
        expect(error?.message).not.toContain(secretOf(key).slice(0, 8))
      }
    }
    expect((await listKeys(components)).text).toMatch(/  in force  /)
  })
})

describe('a key', () => {
  async function setUp() {
    const clock = new Clock(NOW)
    return { clock, components: await testComponents({ clock }) }
  }
  const free = (components: Components) => createKey(components, { owner: 'Ada', tier: 'free' })
  const textOf = async (components: Components) => (await listKeys(components)).text.split('\n')

  test('is listed, oldest first, as in force, in force until a time, ended or revoked', async () => {
    const { clock, components } = await setUp()
    const first = idOf(keyOf(await free(components)))
    clock.set('2026-03-01T12:00:01.000Z')
    const second = idOf(keyOf(await rotateKey(components, first)))
    clock.set('2026-03-01T12:00:02.000Z')
    const third = idOf(keyOf(await free(components)))
    await revokeKey(components, third)
    const rest = [
      `${second}  2026-03-01T12:00:01.000Z  in force  free  client Ada`,
      `${third}  2026-03-01T12:00:02.000Z  revoked 2026-03-01T12:00:02.000Z  free  client Ada`,
    ]
    const ends = '2026-03-02T12:00:01.000Z'
    expect(await textOf(components)).toEqual([
      `${first}  ${NOW}  in force until ${ends}  free  client Ada`,
      ...rest,
    ])
    clock.set(ends)
    expect(await textOf(components)).toEqual([
      `${first}  ${NOW}  replaced, ended ${ends}  free  client Ada`,
      ...rest,
    ])
  })

  test('that replaced another is shown with the time until which the other works', async () => {
    const { components } = await setUp()
    const old = idOf(keyOf(await free(components)))
    const report = await rotateKey(components, old)
    const key = keyOf(report)
    expect(report.json).toEqual({
      api_key: key,
      key_id: idOf(key),
      replaces: old,
      replaced_works_until: TOMORROW,
    })
  })
})

describe('fvs serve at LOG_LEVEL=trace', () => {
  test('neither logs nor stores the secret of any key, wherever in a request it is', async () => {
    const folder = await testFolder()
    const store = join(folder, 'store')
    const env = { STORE_URL: store, LOG_LEVEL: 'trace', FREE_MONTHLY_CALLS: '2' }
    const components = await testComponents({ folder })
    const client = keyOf(await createKey(components, { owner: 'Ada', tier: 'free' }))
    const unknown = components.registry.newKey().key
    const service = await fvsServe({ folder, env }, '--no-scheduler')
    const http = new Client(service.url)
    const { agentId, key: agent } = await registerAgent(http)
    const idempotent = await http.post(
      '/agents/register',
      { name: 'b', model_type: 'm' },
      { 'Idempotency-Key': '"c1b6c3c8-8c39-4a43-9a2f-0e5a1ad0e8a7"' },
    )
    const { api_key: derived } = idempotent.json<{ api_key: string }>()
    const keys = [client, unknown, agent, derived]

    const statuses = new Set<number>()
    for (const key of keys) {
      const encoded = key.replaceAll('_', '%5F')
      const spelt = Array.from(key, (character) => `%${character.charCodeAt(0).toString(16)}`).join('')
      const forecast = { question_id: agentId, probability: 0.5 }
      const answers = [
        await http.get(MISSING, withKey(key)),
        await http.post('/verification/bulk', { entity_type: 'agent', ids: [agentId] }, withKey(key)),
        await http.post('/verification/bulk', { entity_type: 'agent', ids: [agentId] }, withKey(key)),
        await http.post('/verification/bulk', { entity_type: 'agent', ids: [agentId] }, withKey(key)),
        await http.post(`/agents/${agentId}/forecast`, forecast, bearer(key)),
        await http.post(`/agents/${agentId}/forecast`, `{"${key}`, bearer(key)),
        await http.post('/agents/register', { name: key, [key]: key }),
        await http.post('/agents/register', { name: 'c', model_type: 'm' }, { 'Idempotency-Key': key }),
        ...(await Promise.all(
          [
            `/agents/${key}/verification`,
            `/agents/${encoded}/verification`,
            `/questions/${key}`,
            `/questions?cursor=${key}`,
            `/questions?${key}=${encoded}`,
            `/${key}`,
            `/${encoded}/x`,
            `/agents/${spelt}/verification`,
            `/${spelt.replaceAll('%', '%25')}`,
            `/questions?cursor=${spelt}`,
            `/sandbox/${key}`,
          ].map((path) => http.get(path, { 'X-Request-Id': key, Referer: key, 'User-Agent': key })),
        )),
        await http.send('DELETE', `/agents/${key}/verification`),
        await http.get(MISSING, { 'X-API-Key': `Bearer ${key}`, Cookie: `key=${key}` }),
      ]
      for (const { status } of answers) statuses.add(status)
    }
    expect([...statuses].toSorted((a, b) => a - b)).toEqual([200, 201, 400, 401, 403, 404, 405, 422, 429])
    const mine = await http.get(MISSING, withKey(derived))
    expect(quotaIn(mine).policy).toBe('monthly-calls')
    service.kill('SIGTERM')
    const { code, stdout, stderr } = await service.finished
    expect(code, stderr).toBe(0)
    // Every answer was logged, with the public id of the key.
    expect(stderr.match(/"msg":"answered"/g)!.length).toBeGreaterThan(70)
    for (const key of [client, agent, derived]) expect(stderr).toContain(`"keyId":"${idOf(key)}"`)
    const stored = await contentsOf(store)
    expect(stored.length).toBeGreaterThan(5)
    for (const key of keys) {
      // Not even the random part without its checksum.
      for (const text of [stdout, stderr, percentDecoded(stderr), ...stored])
        expect(text).not.toContain(secretOf(key).slice(0, 32))
    }
  })
})
