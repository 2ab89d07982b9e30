// The separation of production and the sandbox, as operators meet it: commands in one of them, and confused
// stores.
import { readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import pMap from 'p-map'
import { beforeAll, describe, expect, test } from 'vitest'
import { FileStore } from '../../../pipeline/store/file.ts'
import { SIMULATION_PATH, manifestPath, releasePrefix } from '../../../pipeline/store/paths.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { parseSettings } from '../../../schemas/config.ts'
import { ENVIRONMENTS, type Environment } from '../../../schemas/values.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import { suiteFolder, testFolder } from '../../support/folder.ts'
import { type Finished, fvs } from '../../support/process.ts'
import {
  Clock,
  SANDBOX_SECRET,
  SECRET,
  registerAgent,
  release,
  startTestService,
  testComponents,
} from '../../support/http/service.ts'
import { writeSmallWorld } from '../../support/worlds/small-world.ts'
import { contentOf, copyOf, recordIn, setRecord } from '../../support/store-content.ts'
import { NOW, importWorld } from '../../support/worlds/world.ts'

const AT_ONCE = 3
const IN_SANDBOX = ['--environment', 'sandbox']

/** The one JSON object that `--json` prints. */
const jsonOf = ({ stdout }: Finished) => JSON.parse(stdout) as Record<string, unknown>

describe('commands with --environment sandbox', () => {
  let folder: string
  let root: FileStore
  const run = (...args: string[]) =>
    fvs(args, {
      folder,
      env: { STORE_URL: join(folder, 'store'), SANDBOX_VERIFICATION_SIGNING_SECRET: SANDBOX_SECRET },
    })
  async function done(...args: string[]): Promise<Record<string, unknown>> {
    const finished = await run(...args, '--json')
    expect(finished.stderr.replaceAll(/^\{.*\n/gm, '')).toBe('')
    expect(finished.code).toBe(0)
    return jsonOf(finished)
  }

  test('import, release, check and issue keys there, and nowhere else', async () => {
    folder = await testFolder()
    root = await FileStore.begin(join(folder, 'store'))
    for (const [kind, file] of await writeSmallWorld(join(folder, 'files'))) {
      expect(await done('import', kind, file, ...IN_SANDBOX)).toMatchObject({ kind })
    }
    expect(await done('release', ...IN_SANDBOX)).toMatchObject({ made: true, release: 1 })
    const written = Object.keys(await contentOf(root))
    expect(written).toContain(`sandbox/${manifestPath(1)}`)
    expect(written.filter((key) => !key.startsWith('sandbox/'))).toEqual([])

    const shard = join(
      folder,
      'store',
      written.find((key) => key.includes(`${releasePrefix(1)}forecaster/`))!,
    )
    expect(await readFile(shard, 'utf8')).toContain('"environment":"sandbox"')
    const [audit, audited, verified, foreign, created] = await pMap(
      [
        () => run('audit', ...IN_SANDBOX, '--json'),
        () => run('audit', '--json'),
        () => run('verify', shard, ...IN_SANDBOX, '--json'),
        () => run('verify', shard, '--json'),
        () => run('keys', 'create', '--owner', 'somebody', ...IN_SANDBOX, '--json'),
      ],
      (ask) => ask(),
      { concurrency: AT_ONCE },
    )
    expect(jsonOf(audit!)).toMatchObject({ ok: true, release: 1, signatures: { invalid: 0, unsigned: 0 } })
    expect(jsonOf(audited!)).toMatchObject({ error: { kind: 'notFound' } })
    expect([jsonOf(verified!)['ok'], verified!.code]).toEqual([true, 0])
    expect([jsonOf(foreign!)['ok'], foreign!.code]).toEqual([false, 1])

    const { api_key: key, environment } = jsonOf(created!)
    expect(environment).toBe('sandbox')
    const id = /^fv_test_([0-9A-Za-z]{8})_/.exec(String(key))![1]!
    expect(await done('keys', 'list')).toEqual({ keys: [] })
    expect(await done('keys', 'list', ...IN_SANDBOX)).toMatchObject({ keys: [{ key_id: id }] })
    const elsewhere = await run('keys', 'revoke', id)
    expect([elsewhere.code, elsewhere.stderr]).toEqual([1, expect.stringContaining('no key has the id')])
    expect(await done('keys', 'revoke', id, ...IN_SANDBOX)).toMatchObject({ key_id: id, owner: 'somebody' })
    expect(Object.keys(await contentOf(root)).filter((name) => !name.startsWith('sandbox/'))).toEqual([])

    await expectRefused()
  })

  /** Commands that would let production use the sandbox's store, under any of its names. */
  async function expectRefused(): Promise<void> {
    const before = await contentOf(root)
    const sandbox = join(folder, 'store', 'sandbox')
    await symlink(sandbox, join(folder, 'elsewhere'))
    const asked: [args: string[], message: RegExp][] = [
      [
        ['release', '--store', sandbox],
        /STORE_URL: must not end in \/sandbox, where the sandbox of a store lies/,
      ],
      [['serve', '--store', `file://${sandbox}/`], /STORE_URL: must not end in \/sandbox/],
      [['release', '--store', './store/sandbox', ...IN_SANDBOX], /STORE_URL: must not end in \/sandbox/],
      [
        ['release', '--store', 'elsewhere'],
        /a store of the environment sandbox: nothing of it is published as production/,
      ],
      [['keys', 'revoke', '../../x'], /what was given, 7 characters, is not the id of a key/],
    ]
    await pMap(
      asked,
      async ([args, message]) => {
        const { code, stdout, stderr } = await run(...args)
        expect(stderr).toMatch(message)
        expect([code, stdout]).toEqual([1, ''])
      },
      { concurrency: AT_ONCE },
    )
    expect(await contentOf(root)).toEqual(before)
  }
})

describe('STORE_URL', () => {
  test.for([
    'sandbox',
    './data/sandbox',
    './data/sandbox/',
    './data/sandbox//.',
    '/srv/Sandbox',
    'C:\\data\\sandbox',
    'file:///srv/sandbox',
    'file:///srv/s%61ndbox/',
    's3://bucket/sandbox',
    's3://bucket/prefix/sandbox/',
  ])('may not be %s', (url) => {
    expect(() => parseSettings({ STORE_URL: url })).toThrow(/^wrong settings in the environment: STORE_URL$/)
  })

  test.for([
    './sandboxes',
    './my-sandbox',
    './sandbox/data',
    's3://sandbox',
    's3://sandbox/',
    's3://sandbox/x',
  ])('may be %s', (url) => {
    expect(parseSettings({ STORE_URL: url }).STORE_URL).toBe(url)
  })
})

describe('serve', () => {
  const SHORT = 'short-and-not-to-be-shown'
  const wrong: [env: Record<string, string>, message: RegExp][] = [
    [
      { VERIFICATION_SIGNING_SECRET: SHORT },
      /^ {2}VERIFICATION_SIGNING_SECRET: must have at least 32 bytes/m,
    ],
    [
      { SANDBOX_VERIFICATION_SIGNING_SECRET: SHORT },
      /^ {2}SANDBOX_VERIFICATION_SIGNING_SECRET: must have at least 32/m,
    ],
    [{ SANDBOX_VERIFICATION_SIGNING_SECRET: SECRET }, /sandbox and production have the same signing secret/],
  ]

  test('does not start with a secret that is too short, or the same in both environments', async () => {
    const folder = await testFolder()
    await pMap(
      wrong,
      async ([env, message]) => {
        const { code, stdout, stderr } = await fvs(['serve'], { folder, env })
        expect(stderr).toMatch(message)
        expect(stderr).not.toContain(SHORT)
        expect(stderr).not.toContain(SECRET)
        expect([code, stdout]).toEqual([1, ''])
      },
      { concurrency: AT_ONCE },
    )
  })
})

describe('a release', async () => {
  const released: Partial<Record<Environment, MemoryStore>> = {}
  const folder = await suiteFolder()
  const of = (store: Store, environment: Environment) =>
    testComponents({ store, environment, folder, clock: new Clock(NOW) })

  beforeAll(async () => {
    for (const environment of ENVIRONMENTS) {
      const store = new MemoryStore()
      const components = await of(store, environment)
      await importWorld(components)
      await release(components)
      // Rows in the inbox, which a release would take in.
      const service = await startTestService(components)
      await registerAgent(service.client)
      await service.stop()
      released[environment] = store
    }
  })

  const cases = ENVIRONMENTS.flatMap((theirs): [Environment, string, (store: MemoryStore) => void][] => [
    [theirs, 'that has a release', () => undefined],
    [theirs, 'whose first release was begun', (store) => store.objects.delete(manifestPath(1))],
    [theirs, 'whose second was begun', (store) => beginSecond(store)],
  ])
  const beginSecond = (store: MemoryStore) => {
    const [plan, next] = ['releases/00000001/plan.json', 'releases/00000002/plan.json']
    setRecord(store, next, { ...recordIn(store, plan), brings_snapshot: false })
  }

  test.for(cases)(
    'of a store of %s %s is refused to the other, which changes nothing',
    async ([theirs, , change]) => {
      const mine = ENVIRONMENTS.find((name) => name !== theirs)!
      const store = copyOf(released[theirs]!)
      change(store)
      const before = await contentOf(store)
      expect(Object.keys(before).some((key) => key.startsWith('inbox/agents/'))).toBe(true)
      const watched = new FaultStore(store)
      for (const request of [{}, { ifChanged: true }, { asOf: new Date('2026-02-01T00:00:00Z') }]) {
        await expect(release(await of(watched, mine), request)).rejects.toMatchObject({
          kind: 'conflict',
          message: `memory: is a store of the environment ${theirs}: nothing of it is published as ${mine}`,
        })
      }
      expect(watched.writes).toBe(0)
      expect(await contentOf(store)).toEqual(before)
      expect(await release(await of(store, theirs))).toMatchObject({ made: true })
    },
  )

  test.for(ENVIRONMENTS)('of a store of %s is not served as the other either', async (theirs) => {
    const mine = ENVIRONMENTS.find((name) => name !== theirs)!
    const store = new FaultStore(copyOf(released[theirs]!))
    // If it were served as the other's, its payloads would be signed again with the other's secret.
    await expect(startTestService(await of(store, mine))).rejects.toMatchObject({ kind: 'conflict' })
    expect(store.writes).toBe(0)
    const service = await startTestService(await of(store, theirs))
    await service.stop()
  })

  test('of a store in which the sandbox has so far only simulated is refused to production', async () => {
    const store = new MemoryStore()
    await importWorld(await of(store, 'sandbox'))
    store.objects.set(SIMULATION_PATH, Buffer.from('{}'))
    const before = await contentOf(store)
    await expect(release(await of(store, 'production'))).rejects.toMatchObject({ kind: 'conflict' })
    expect(await contentOf(store)).toEqual(before)
    expect(await release(await of(store, 'sandbox'))).toMatchObject({ made: true, release: 1 })
  })
})
