// The commands as processes: exit codes, output streams, and messages that name the fault.
import { cp, mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import pMap from 'p-map'
import { beforeAll, describe, expect, test } from 'vitest'
import { COMMANDS } from '../../jobs/commands.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { FileStore } from '../../pipeline/store/file.ts'
import { suiteFolder, testFolder } from '../support/folder.ts'
import { type Finished, type ProcessOptions, fvs, fvsServe } from '../support/process.ts'
import { RawSocket } from '../support/http/raw-socket.ts'
import { Client, OTHER_SECRET, SECRET, testService } from '../support/http/service.ts'
import { contentOf } from '../support/store-content.ts'
import { NOW, QUESTIONS_CSV, forecasterId, copyReleasedWorld, uuidOf } from '../support/worlds/world.ts'

const AT_ONCE = 3

const released = await suiteFolder()
beforeAll(async () => {
  await copyReleasedWorld(await FileStore.begin(join(released, 'store')))
})

const withStore = (folder: string, env: Record<string, string> = {}): ProcessOptions => ({
  folder,
  env: { STORE_URL: join(folder, 'store'), ...env },
})

/** A copy of the released store, to change. */
async function copyOfReleased(): Promise<string> {
  const folder = await testFolder()
  await cp(join(released, 'store'), join(folder, 'store'), { recursive: true })
  return folder
}

async function file(folder: string, name: string, content: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, content)
  return path
}

/** The one JSON object that `--json` prints. */
function jsonOf({ stdout }: Finished): Record<string, unknown> {
  expect(stdout.endsWith('\n')).toBe(true)
  expect(stdout.trimEnd()).not.toContain('\n')
  return JSON.parse(stdout) as Record<string, unknown>
}

function expectFailed(
  { code, stdout, stderr }: Finished,
  expectedCode: number,
  message: string | RegExp,
): void {
  expect(stderr).toMatch(message)
  expect(code).toBe(expectedCode)
  expect(stdout).toBe('')
  expect(stderr).not.toMatch(/^\s+at /m)
  expect(stderr).not.toContain(SECRET)
}

describe('wrong usage exits with 2 and names the fault', () => {
  const wrong: [args: string[], message: RegExp][] = [
    [[], /Usage: fvs/],
    [['scores'], /unknown command 'scores'/],
    [['release', '--as-of', '2026-02-30T12:00:00Z'], /'2026-02-30T12:00:00Z' is invalid/],
    [
      ['import', 'people', 'x.csv'],
      /'people' is invalid .* It must be one of questions, events, resolutions, /,
    ],
    [['import', 'forecasts'], /missing required argument 'file'/],
    [['import', 'forecasts', 'x.csv', '--template'], /--template takes no file/],
    [['import', 'forecasters', 'x.csv', '--percent'], /--percent is not for forecasters: they have no such/],
    [
      ['import', 'forecasters', 'x.csv', '--events', 'own'],
      /--events is not for forecasters: they have no such/,
    ],
    [['import', 'questions', 'x.csv', '--events', 'no'], /--events is "no", not "own"/],
    [['import', 'forecasts', 'x.csv', '--ids', 'text'], /--ids text needs --namespace/],
    [['audit', '--release', '0'], /'0' is invalid. It must be a whole number from 1 on/],
    [['retention'], /required option '--keep <number>' not specified/],
    [['retention', '--keep', '0'], /'0' is invalid. It must be a whole number from 1 on/],
    [['quarantine', '--reason', 'why'], /missing required argument 'key'/],
    [['quarantine', 'inbox/forecasts/x.parquet'], /required option '--reason <text>' not specified/],
    [['quarantine', 'inbox/forecasts/x.parquet', '--reason', ' '], /is invalid. It must not be empty/],
    [['quarantine', 'inbox/forecasts/x.parquet', '--reason', 'a\nb'], /must not have the character U\+000A/],
    [['quarantine', 'x', '--reason', 'a'.repeat(501)], /It must have at most 500 characters/],
    [['log', 'key'], /missing required argument 'origin'/],
    [['log', 'key', 'a b'], /^error: ORIGIN is "a b"; it must have neither white space nor a plus sign\n$/],
    [['keys', 'create'], /required option '--owner <name>' not specified/],
    [
      ['release', '--env-file', 'gone.env'],
      /^error: --env-file is "gone\.env", which cannot be read \(ENOENT\)\n$/,
    ],
    [['--env-file', 'gone.env', 'mcp'], /^error: --env-file is "gone\.env", which cannot be read/],
    [['audit', '--log', '--unsigned'], /--log checks the signatures of the log, so it takes no --unsigned/],
  ]

  test('and has done nothing', async () => {
    const folder = await testFolder()
    await pMap(
      wrong,
      async ([args, message]) => {
        expectFailed(await fvs(args, { folder }), 2, message)
      },
      { concurrency: AT_ONCE },
    )
    expect(await readdir(folder)).toEqual([])
  })

  test('such as a file of settings that FVS_ENV_FILE names and that is not there', async () => {
    const folder = await testFolder()
    const finished = await fvs(
      ['keys', 'list'],
      withStore(folder, { FVS_ENV_FILE: join(folder, 'gone.env') }),
    )
    expectFailed(
      finished,
      2,
      `error: FVS_ENV_FILE is "${join(folder, 'gone.env')}", which cannot be read (ENOENT)`,
    )
    expect(await readdir(folder)).toEqual([])
  })

  test('while --help and --version exit with 0', async () => {
    const folder = await testFolder()
    const [help, version] = await Promise.all([fvs(['--help'], { folder }), fvs(['--version'], { folder })])
    expect([help.code, version.code]).toEqual([0, 0])
    for (const name of Object.keys(COMMANDS)) {
      expect(help.stdout).toContain(`  ${name} `)
    }
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe('a wrong setting', () => {
  const wrong: [env: Record<string, string>, message: RegExp][] = [
    [{ VERIFICATION_SIGNING_SECRET: ` ${SECRET}` }, /_SECRET: must not begin or end with white space\n$/],
    [{ RELEASE_SCHEDULE: 'daily' }, /^fvs: RELEASE_SCHEDULE is not a cron expression: "daily"/m],
    [
      { SANDBOX_RELEASE_SCHEDULE: 'daily' },
      /^fvs: SANDBOX_RELEASE_SCHEDULE is not a cron expression: "daily"/m,
    ],
    [
      { LOG_SIGNING_KEY: `PRIVATE+KEY+log.example+00000000+AQ${'B'.repeat(42)}` },
      /^fvs: LOG_SIGNING_KEY: the id of the signing key is not that of its public key\n$/,
    ],
  ]

  test('stops the boot and is named', async () => {
    const folder = await testFolder()
    await pMap(
      wrong,
      async ([env, message]) => {
        expectFailed(await fvs(['serve'], withStore(folder, env)), 1, message)
      },
      { concurrency: AT_ONCE },
    )
  })
})

describe('serve', () => {
  test('on a port in use names it and ends', async () => {
    const { url } = await testService()
    const { port } = new URL(url)
    const finished = await fvs(['serve'], withStore(await testFolder(), { PORT: port }))
    expectFailed(finished, 1, `port ${port} on 127.0.0.1 is taken; set PORT`)
  })

  test('makes releases on its schedule, in a process of its own, on the store of --store', async () => {
    const folder = await testFolder()
    const store = join(folder, 'elsewhere')
    const service = await fvsServe(
      { folder, env: { RELEASE_SCHEDULE: '* * * * * *', REFRESH_MS: '50' } },
      '--store',
      store,
    )
    const client = new Client(service.url)
    await expect
      .poll(async () => (await client.get('/metrics')).text)
      .toMatch(/^fvs_release\{environment="production"\} 1$/m)
    service.kill('SIGTERM')
    const { code, stdout } = await service.finished
    expect([code, stdout]).toEqual([0, ''])
    expect(await readdir(folder)).not.toContain('data')
    expect(Object.keys(await contentOf(await FileStore.begin(store)))).toContain(
      'releases/00000001/manifest.json',
    )
  })

  test('ends at the second signal, of either kind, whatever is under way', async () => {
    const folder = await testFolder()
    const service = await fvsServe(withStore(folder, { SHUTDOWN_TIMEOUT_MS: '600000' }), '--no-scheduler')
    // A request that is never finished, for which the first signal makes it wait.
    const raw = await RawSocket.open(service.url)
    raw.send(
      'POST /agents/register HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      'Content-Length: 9',
    )
    raw.send('', 'Expect: 100-continue', '', '')
    await raw.received(/100 Continue/)
    service.kill('SIGTERM')
    await expect
      .poll(
        () =>
          new Promise((resolve) => request(service.url).on('error', resolve).on('response', resolve).end()),
      )
      .toMatchObject({ code: 'ECONNREFUSED' })
    // A signal in the same second is ignored, because a parent may have passed on the first one.
    let ended: Finished | undefined
    void service.finished.then((finished) => (ended = finished))
    await expect
      .poll(() => {
        service.kill('SIGINT')
        return ended
      })
      .toBeDefined()
    expect(ended!.signal === 'SIGINT' || ended!.code === 130).toBe(true)
  })

  test('leaves no temporary folder behind, and with --json prints where it served', async () => {
    const folder = await testFolder()
    const own = async () => (await readdir(folder)).filter((name) => name.startsWith('fvs-'))
    const service = await fvsServe(withStore(folder), '--no-scheduler', '--json')
    // One folder for each environment.
    expect(await own()).toHaveLength(2)
    service.kill('SIGINT')
    const finished = await service.finished
    expect(finished.code).toBe(0)
    expect(jsonOf(finished)).toEqual({ url: service.url })
    expect(await own()).toEqual([])
  })

  test('removes the temporary folders of processes that were killed, and no others', async () => {
    const folder = await testFolder()
    const own = async () => (await readdir(folder)).filter((name) => name.startsWith('fvs-')).sort()
    const killed = await fvsServe(withStore(folder), '--no-scheduler')
    const left = await own()
    expect(left).toHaveLength(2)
    killed.kill('SIGKILL')
    await killed.finished
    const serving = await fvsServe(withStore(folder), '--no-scheduler')
    const live = await own()
    expect(live).toHaveLength(2)
    expect(live).not.toEqual(expect.arrayContaining([left[0]]))
    // Of a container that shares the temporary folder, where the id of the process means another one.
    const foreign = left[0]!.replace(/[0-9a-f]{8}/, '00000000')
    for (const name of [foreign, 'fvs-notes']) await mkdir(join(folder, name))
    expect((await fvs(['keys', 'list'], withStore(folder))).code).toBe(0)
    expect(await own()).toEqual([...live, foreign, 'fvs-notes'].sort())
    serving.kill('SIGTERM')
    expect((await serving.finished).code).toBe(0)
  })
})

describe('a store', () => {
  test('that cannot be written to makes commands fail that would use it', async () => {
    const folder = await testFolder()
    await file(folder, 'store', 'not a folder')
    const finished = await fvs(['keys', 'create', '--owner', 'somebody'], withStore(folder))
    expectFailed(finished, 1, /the store could not begin \S+\/store \((EEXIST|ENOTDIR)\)/)
  })

  test('is ./data by default, and --store takes precedence over STORE_URL', async () => {
    const folder = await testFolder()
    const create = ['keys', 'create', '--owner', 'somebody']
    expect((await fvs(create, { folder })).code).toBe(0)
    expect(await readdir(folder)).toContain('data')
    const url = new URL(`file://${folder}/named`).href
    expect((await fvs([...create, '--store', url], withStore(folder))).code).toBe(0)
    expect(await readdir(folder)).toContain('named')
    expect(await readdir(folder)).not.toContain('store')
  })

  test('is begun by few commands, and all others refuse a folder without one', async () => {
    const folder = await testFolder()
    // As a mount point whose disk is away.
    await mkdir(join(folder, 'store'))
    const refused = await pMap(
      [
        ['release'],
        ['release', '--environment', 'sandbox'],
        ['audit'],
        ['agents', 'list'],
        ['agents', 'retire', uuidOf(1, 1)],
        ['keys', 'list'],
        ['keys', 'revoke', 'abcdefgh'],
        ['keys', 'rotate', 'abcdefgh'],
        ['sandbox', 'step'],
      ],
      (args) => fvs(args, withStore(folder)),
      { concurrency: AT_ONCE },
    )
    for (const finished of refused) {
      expectFailed(finished, 1, `fvs: there is no store in ${join(folder, 'store')}`)
      expect(finished.stderr.split('\n')).toHaveLength(2)
    }
    expect(await readdir(join(folder, 'store'))).toEqual([])
    const created = await fvs(['keys', 'create', '--owner', 'somebody'], withStore(folder))
    expect(JSON.parse(created.stderr)).toMatchObject({
      level: 30,
      environment: 'production',
      store: `file://${join(folder, 'store')}`,
      msg: 'began a new store, since there was none',
    })
    const again = await fvs(['keys', 'create', '--owner', 'somebody'], withStore(folder))
    expect([again.code, again.stderr]).toEqual([0, ''])
    expectFailed(await fvs(['audit'], withStore(folder)), 1, /has no release yet/)
    expectFailed(await fvs(['sandbox', 'step'], withStore(folder)), 1, /there is no store in \S+\/sandbox: /)
  })

  test('whose folder is away makes jobs fail while it is, and is not begun anew', async () => {
    const folder = await copyOfReleased()
    await rename(join(folder, 'store'), join(folder, 'away'))
    for (const args of [['release'], ['audit']]) {
      expectFailed(await fvs(args, withStore(folder)), 1, /^fvs: there is no store in /)
    }
    expect(await readdir(folder)).not.toContain('store')
    await rename(join(folder, 'away'), join(folder, 'store'))
    expect((await fvs(['audit'], withStore(folder))).code).toBe(0)
    expectFailed(await fvs(['audit', '--store', ''], withStore(folder)), 1, /^fvs: --store is empty: /)
  })
})

describe('a file of settings', () => {
  test('is read by every command, and the environment wins over it', async () => {
    const folder = await copyOfReleased()
    await file(
      folder,
      'settings.env',
      `# of the service\nSTORE_URL=${join(folder, 'store')}\nexport VERIFICATION_SIGNING_SECRET="${OTHER_SECRET}"\nFVS_ENV_FILE=gone.env\n`,
    )
    const environment = { folder, env: { FVS_ENV_FILE: 'settings.env' } }
    const [byVariable, byOption, other] = await Promise.all([
      fvs(['audit'], environment),
      fvs(['audit', '--env-file', 'settings.env'], { folder, env: { FVS_ENV_FILE: 'gone.env' } }),
      fvs(['audit', '--env-file', 'settings.env'], { folder, without: ['VERIFICATION_SIGNING_SECRET'] }),
    ])
    for (const { code, stderr } of [byVariable, byOption]) expect(code, stderr).toBe(0)
    expectFailed(other, 1, /^fvs: release 1 is signed with another secret than VERIFICATION_SIGNING_SECRET; /)
  })

  test('gives the scheduled release of fvs serve its secret, which it inherits', async () => {
    const folder = await copyOfReleased()
    await file(
      folder,
      'settings.env',
      `VERIFICATION_SIGNING_SECRET="${SECRET}"\nRELEASE_SCHEDULE="* * * * * *"\n`,
    )
    const options = { ...withStore(folder), without: ['VERIFICATION_SIGNING_SECRET'] }
    const serving = await fvsServe(options, '--env-file', 'settings.env')
    await serving.logged(/"msg":"published"/)
    serving.kill('SIGTERM')
    expect((await serving.finished).code).toBe(0)
  })
})

describe('a release that is signed', () => {
  test('is followed by one without its secret only with --unsigned, and audited so', async () => {
    const folder = await copyOfReleased()
    const options = { ...withStore(folder), without: ['VERIFICATION_SIGNING_SECRET'] }
    const refusal = /^fvs: release 1 is signed, and VERIFICATION_SIGNING_SECRET is not set; set it, or /m
    for (const args of [['release'], ['release', 'plan'], ['audit'], ['serve']]) {
      expectFailed(await fvs(args, options), 1, refusal)
    }
    const audit = await fvs(['audit', '--unsigned'], withStore(folder))
    expect([audit.code, audit.stdout]).toEqual([0, expect.stringContaining('signatures: not checked; ')])
    expect((await fvs(['release', '--unsigned', '--json'], options)).code).toBe(0)
    expect((await fvs(['audit'], options)).code).toBe(0)
  })
})

describe('import', () => {
  test('reports its result, for people and for programs', async () => {
    const folder = await testFolder()
    const path = await file(folder, 'questions.csv', QUESTIONS_CSV)
    await FileStore.begin(join(folder, 'store'))
    const first = await fvs(['import', 'questions', path], withStore(folder))
    expect([first.code, first.stdout, first.stderr]).toEqual([
      0,
      'questions: 56 of 56 rows added, 0 known already\nimport questions-1; `fvs imports undo questions-1` takes it back\n',
      '',
    ])
    const second = await fvs(['import', 'questions', path, '--json'], withStore(folder))
    expect(second.code).toBe(0)
    expect(jsonOf(second)).toEqual({
      import_id: null,
      kind: 'questions',
      rows: 56,
      added: 0,
      changed: 0,
      changed_columns: {},
      unchanged: 56,
      repeats: 0,
      missing_words: {},
      texts_changed: {},
      unwanted: 0,
      withdrawals: 0,
      forecasters_created: 0,
      too_late: 0,
      made_void: { forecasts: 0, entities: 0 },
      clock_behind_ms: 0,
    })
  })

  test('of a bad file exits with 1, names the rows and leaves the store as it was', async () => {
    const folder = await copyOfReleased()
    const store = await FileStore.begin(join(folder, 'store'))
    const before = await contentOf(store)
    const columns = 'entity_type,entity_id,question_id,probability,forecast_at'
    const lines = Array.from(
      { length: 22 },
      (_, index) => `forecaster,${forecasterId(0)},${uuidOf(1, 0)},${index + 2},${NOW}`,
    )
    const path = await file(folder, 'bad.csv', [columns, ...lines].join('\n'))
    const [plain, json] = await Promise.all([
      fvs(['import', 'forecasts', path], withStore(folder)),
      fvs(['import', 'forecasts', path, '--json'], withStore(folder)),
    ])
    expectFailed(
      plain,
      1,
      `fvs: ${path}: 22 bad rows (the first 20 are named, 2 more are not); nothing was imported`,
    )
    expect(plain.stderr.split('\n').slice(1, -1)).toEqual(
      Array.from(
        { length: 20 },
        (_, index) =>
          `  line ${index + 2}: probability is "${index + 2}", not a number from 0 to 1; a percentage? see --percent`,
      ),
    )
    expect(json.code).toBe(1)
    expect(jsonOf(json)).toMatchObject({ error: { kind: 'invalid', errors: { length: 20 } } })
    expect(await contentOf(store)).toEqual(before)
  })

  test('of a file that is not a table exits with 1 and writes nothing', async () => {
    const folder = await testFolder()
    const path = await file(folder, 'half.parquet', 'PAR1')
    const [missing, half] = await Promise.all([
      fvs(['import', 'questions', 'nowhere.csv'], withStore(folder)),
      fvs(['import', 'questions', path], withStore(folder)),
    ])
    expectFailed(missing, 1, 'fvs: there is no file nowhere.csv')
    expectFailed(half, 1, `fvs: ${path} cannot be read: `)
    expect(await contentOf(await FileStore.begin(join(folder, 'store')))).toEqual({})
  })
})

describe('release', () => {
  test('is made as of a past instant, but not if nothing has changed, and not as of the future', async () => {
    const folder = await copyOfReleased()
    const store = await FileStore.begin(join(folder, 'store'))
    // What was released is of today.
    for (const prefix of ['releases/', 'snapshots/']) {
      for (const path of Object.keys(await contentOf(store, prefix))) await store.delete(path)
    }
    const run = (...args: string[]) => fvs(['release', ...args], withStore(folder))
    const past = await run('--as-of', '2026-01-25T12:00:00+02:00')
    expect(past.code, past.stderr).toBe(0)
    expect(past.stdout).toMatch(
      /^release 1 as of 2026-01-25T10:00:00\.000Z: 7 entities, \d+ scored pairs, 17 files, [\d.]+ s\nscored: [^]*\nlook at: .*\n$/,
    )
    const log = past.stderr.trimEnd().split('\n')
    expect(JSON.parse(log.at(-1)!)).toMatchObject({ msg: 'published', release: 1, entities: 7 })
    // The current release is of another day, which is news; after that there is none.
    expect(jsonOf(await run('--if-changed', '--json'))).toMatchObject({ made: true, release: 2 })
    const [unchanged, future, before] = await Promise.all([
      run('--if-changed', '--json'),
      run('--as-of', '2999-01-01T00:00:00Z'),
      run('--as-of', '2026-01-25T10:00:01Z'),
    ])
    expect(unchanged.code).toBe(0)
    expect(jsonOf(unchanged)).toEqual({ made: false, release: 2, reason: 'unchanged' })
    expectFailed(future, 1, '--as-of 2999-01-01T00:00:00.000Z lies in the future')
    expectFailed(before, 1, /--as-of 2026-01-25T10:00:01\.000Z lies before \S+Z, the as_of of release 2;/)
  })
})

describe('quarantine', () => {
  const key = 'inbox/forecasts/stray.parquet'

  test('lets a release go on that has named the object and the command', async () => {
    const folder = await copyOfReleased()
    const store = await FileStore.begin(join(folder, 'store'))
    await store.put(key, Buffer.from('of another service'))
    const run = (...args: string[]) => fvs(args, withStore(folder))
    expectFailed(
      await run('release'),
      1,
      new RegExp(`^fvs: ${key} .*: fvs quarantine ${key} --reason TEXT\n$`),
    )
    const aside = await run('quarantine', key, '--reason', ' put there by mistake ', '--json')
    expect([aside.code, aside.stderr]).toEqual([0, ''])
    const object = {
      key,
      at: expect.stringMatching(/Z$/) as string,
      reason: 'put there by mistake',
      size_bytes: 18,
      sha256: sha256Hex('of another service'),
      rows: null,
      version: null,
    }
    expect(jsonOf(aside)).toEqual({ ...object, was_recorded: false, data_files: [] })
    const again = await run('quarantine', key, '--reason', 'another reason')
    expect([again.code, again.stderr]).toEqual([0, ''])
    expect(again.stdout).toMatch(
      new RegExp(`^${key} lies in quarantine/${key} since \\S+Z\\. The next .*: put there by mistake\n$`),
    )
    expect(jsonOf(await run('release', '--if-changed', '--json'))).toMatchObject({ made: true, release: 2 })
    expect((await readManifest(store, 2))!.quarantined).toEqual([object])
    expect((await run('audit')).code).toBe(0)
  })

  test('of a data file or of what can be read exits with 1 and changes nothing', async () => {
    const folder = await copyOfReleased()
    const store = await FileStore.begin(join(folder, 'store'))
    const before = await contentOf(store)
    const run = (path: string) => fvs(['quarantine', path, '--reason', 'why'], withStore(folder))
    const dataFile = Object.keys(before).find((path) => /^tables\/forecasts\/.*\.parquet$/.test(path))!
    const manifest = Object.keys(before).find((path) => /^snapshots\/.*\/manifest\.json$/.test(path))!
    expectFailed(await run(dataFile), 1, /cannot be moved aside: .* Restore anything else from a backup/)
    expectFailed(await run(manifest), 1, /can be read on this machine, so it is not moved aside/)
    expect(await contentOf(store)).toEqual(before)
  })
})

describe('keys', () => {
  test('are shown once, listed without their secrets, and revoked by their public id', async () => {
    const folder = await testFolder()
    const run = (...args: string[]) => fvs(['keys', ...args], withStore(folder))
    const created = await run('create', '--owner', 'Ada & Co', '--json')
    const { api_key: key } = jsonOf(created) as { api_key: string }
    expect(key).toMatch(/^fv_live_/)
    const id = key.split('_')[2]!
    expect((await run('revoke', id)).stdout).toMatch(new RegExp(`^${id} was revoked at \\S+Z\n$`))
    const [json, plain] = await Promise.all([run('list', '--json'), run('list')])
    expect(jsonOf(json)).toMatchObject({
      keys: [{ key_id: id, kind: 'client', owner: 'Ada & Co', revoked_at: expect.any(String) as string }],
    })
    expect(plain.stdout).toMatch(new RegExp(`^${id}  \\S+Z  revoked \\S+Z  free  client Ada & Co\n$`))
    expect(json.stdout + plain.stdout).not.toContain(key.slice(-38))
  })

  test('that do not exist, and owners without a name, are refused', async () => {
    const folder = await testFolder()
    const blank = await fvs(['keys', 'create', '--owner', ' '], withStore(folder))
    const unknown = await fvs(['keys', 'revoke', 'abcdefgh'], withStore(folder))
    expectFailed(unknown, 1, 'no key has the id "abcdefgh"')
    expectFailed(blank, 1, '--owner is " "; it must not be empty')
  })
})

describe('verify', () => {
  test('exits with 0 for a genuine shard and with 1 for a changed one', async () => {
    const folder = await copyOfReleased()
    const shard = join(folder, 'store/releases/00000001/forecaster', `${forecasterId(0)}.json`)
    const env = { VERIFICATION_SIGNING_SECRET: OTHER_SECRET }
    const [good, bad] = await Promise.all([
      fvs(['verify', shard], { folder }),
      fvs(['verify', shard, '--json'], { folder, env }),
    ])
    expect(good.code).toBe(0)
    expect(good.stdout.split('\n')[0]).toBe(`${shard}: all 36 signatures hold`)
    expect(bad.code).toBe(1)
    expect(jsonOf(bad)).toMatchObject({ ok: false, checked: 36 })
  })
})

describe('audit', () => {
  test('exits with 0 for a good release and with 1, naming the file, for a changed one', async () => {
    const folder = await copyOfReleased()
    const run = (...args: string[]) => fvs(['audit', ...args], withStore(folder))
    const good = await run()
    expect(good.code, good.stderr).toBe(0)
    expect(good.stdout).toContain('every byte derived again')
    const store = await FileStore.begin(join(folder, 'store'))
    const key = 'releases/00000001/scores/000.parquet'
    const bytes = (await store.get(key))!
    await store.put(key, bytes.with(bytes.length >> 1, bytes[bytes.length >> 1]! ^ 1))
    const [bad, other] = await Promise.all([run('--json', '--release', '1'), run('--release', '7')])
    expect(bad.code).toBe(1)
    const { faults } = jsonOf(bad) as { faults: string[] }
    expect(faults.map((fault) => fault.split(':')[0])).toEqual([
      'scores/000.parquet',
      'scores/000.parquet',
      'manifest.json',
    ])
    expectFailed(other, 1, 'there is no release 7')
  })
})
