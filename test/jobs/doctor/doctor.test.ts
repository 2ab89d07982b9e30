// `fvs doctor`: a store without a fault has none, and each trouble is named with what to do.
// @module-tag slow
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { type DoctorOptions, diagnose, runDoctor } from '../../../jobs/doctor/doctor.ts'
import type { Finding } from '../../../jobs/doctor/finding.ts'
import { copyStore } from '../../../pipeline/backup/copy.ts'
import { writeCopyNote } from '../../../pipeline/backup/note.ts'
import { FileStore } from '../../../pipeline/store/file.ts'
import { credentialKeyText } from '../../../pipeline/credentials/keys.ts'
import { thinReleases } from '../../../pipeline/release/retention.ts'
import { feedPath } from '../../../pipeline/store/paths.ts'
import type { Environment } from '../../../schemas/values.ts'
import { freePort } from '../../support/free-port.ts'
import { credentialWorld } from '../../support/worlds/credential-world.ts'
import { after as sandboxAfter } from '../../support/worlds/sandbox.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { putIntake } from '../../../pipeline/tables/intake.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { suiteFolder } from '../../support/folder.ts'
import { Clock, OTHER_SECRET, SECRET, testComponents } from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { send } from '../../support/tables.ts'
import { type LoggedWorld, THIRD, WITNESS, loggedWorld } from '../../support/worlds/logged-world.ts'
import { apiForecast } from '../../support/http/api-forecasts.ts'
import { signingKeyText, verifierKeyText } from '../../../pipeline/proof/note-keys.ts'
import { LOG_SECRET } from '../../support/worlds/written-log.ts'

const folder = await suiteFolder()
const backup = join(folder, 'backup')
const HOUR_MS = 60 * 60_000
const after = (hours: number) => new Date(Date.parse(THIRD) + hours * HOUR_MS).toISOString()
const SETTINGS = {
  LOG_SIGNING_KEY: LOG_SECRET,
  LOG_WITNESSES: `${verifierKeyText(WITNESS.verifier)} https://witness.example`,
  PUBLIC_URL: 'https://forecasts.example.org',
}

let world: LoggedWorld
let store: MemoryStore
/** A sandbox that has issued credentials. */
let credentials: MemoryStore
beforeAll(async () => {
  world = await loggedWorld(folder)
  await backUp(world.store, backup)
  credentials = new MemoryStore()
  await credentialWorld(credentials, folder, new Clock(THIRD))
})

/** Makes a whole backup as of the third release. */
async function backUp(from: MemoryStore, to: string): Promise<void> {
  const copy = await FileStore.begin(to)
  const how = { directory: folder, deletes: false, comparesAll: false, progress: () => undefined }
  await copyStore({ ...how, from, to: copy })
  await writeCopyNote(copy, { kind: 'backup', from: 'memory:', as_of: after(0) })
}

beforeEach(() => {
  // The store gives each object the time of the clock, so that its clock is right.
  store = copyOf(world.store)
})

interface Sick extends DoctorOptions {
  at?: string
  settings?: Record<string, string>
  environment?: Environment
}

async function found({ at = after(2), settings = {}, environment, ...options }: Sick = {}): Promise<
  Finding[]
> {
  const clock = new Clock(at)
  const components = await testComponents({
    store,
    folder,
    clock,
    settings: { ...SETTINGS, ...settings },
    ...(environment && { environment }),
  })
  const findings = await diagnose(components, { backup, ...options })
  // The store of the tests is in 1970, and the free space is that of the machine.
  return findings.filter(({ check }) => check !== 'clock' && check !== 'space')
}

test('finds nothing to do where nothing is wrong', async () => {
  const findings = await found()
  expect(findings.filter(({ state }) => state === 'fault')).toEqual([])
  expect(findings.filter(({ state }) => state === 'note')).toEqual([
    expect.objectContaining({
      check: 'questions',
      detail: expect.stringMatching(/^\d+ ha(s|ve) closed without an outcome/) as string,
    }),
  ])
  expect(new Set(findings.map(({ check }) => check))).toEqual(
    new Set([
      'secret',
      'log key',
      'store',
      'inbox',
      'tables',
      'objects',
      'release',
      'log',
      'witnesses',
      'questions',
      'backup',
    ]),
  )
})

test('finds nothing to do where credentials were issued by the settings', async () => {
  const findings = await found(issued())
  expect(findings.find(({ check }) => check === 'credentials')).toMatchObject({ state: 'ok' })
  expect(findings.find(({ check }) => check === 'objects')).toMatchObject({ state: 'ok' })
})

test('misses no file that retention has deleted', async () => {
  const before = store.objects.size
  await thinReleases({ store, now: () => new Date(after(1)), log: () => undefined }, 3, 1)
  expect(store.objects.size).toBeLessThan(before)
  expect((await found()).find(({ check }) => check === 'objects')).toMatchObject({ state: 'ok' })
})

/** Deletes the objects at such paths. */
function lose(pattern: RegExp, most = Infinity): Sick {
  const lost = [...store.objects.keys()].filter((path) => pattern.test(path)).toSorted()
  if (lost.length === 0) throw new Error(`no object is at ${String(pattern)}`)
  for (const path of lost.slice(0, most)) store.objects.delete(path)
  return {}
}

const lostIn = (folderName: string, count: number, first: string): Partial<Finding> => ({
  check: 'objects',
  state: 'fault',
  detail: expect.stringMatching(
    new RegExp(`^${count} in ${folderName}/ (is|are) gone or cut off: ${first}`),
  ) as string,
  advice: 'make no release; copy them back from the backup: docs/recover.md, Lost objects',
})

/** The sandbox that has issued credentials, with its key and address unless these are said. */
function issued(settings: Record<string, string> = {}, keep = /./): Sick {
  store = copyOf(credentials)
  for (const path of store.objects.keys()) if (!keep.test(path)) store.objects.delete(path)
  return {
    at: sandboxAfter(61),
    environment: 'sandbox',
    settings: { SANDBOX_CREDENTIAL_SIGNING_KEY: credentialKeyText(new Uint8Array(32).fill(3)), ...settings },
  }
}

const troubles: [name: string, sicken: () => Sick | Promise<Sick>, finding: Partial<Finding>][] = [
  [
    'no secret',
    () => ({ settings: { VERIFICATION_SIGNING_SECRET: '' } }),
    { check: 'signing', state: 'fault' },
  ],
  [
    'another secret',
    () => ({ settings: { VERIFICATION_SIGNING_SECRET: OTHER_SECRET } }),
    { check: 'signing', state: 'fault' },
  ],
  [
    'a secret that is easily guessed',
    () => ({ settings: { VERIFICATION_SIGNING_SECRET: 'ab'.repeat(20) } }),
    { check: 'secret', state: 'fault' },
  ],
  [
    'an old release',
    () => ({ at: after(30) }),
    { check: 'release', state: 'fault', detail: 'release 3 is as of 30 h ago' },
  ],
  [
    'a release of a time to come',
    () => ({ at: after(-2) }),
    {
      check: 'release',
      state: 'fault',
      detail: 'release 3 is as of 2 h from now: nodes take no forecasts, and no release is made before then',
    },
  ],
  ['an old backup', () => ({ at: after(30) }), { check: 'backup', state: 'fault' }],
  [
    'no backup',
    () => ({ backup: join(folder, 'store-of-nobody') }),
    {
      check: 'backup',
      state: 'fault',
      detail: `nothing is in ${join(folder, 'store-of-nobody')} yet`,
      advice: `make one: fvs backup ${join(folder, 'store-of-nobody')}`,
    },
  ],
  [
    'a place with something else than a backup',
    async () => {
      const other = join(folder, 'other')
      await (await FileStore.begin(other)).put('a', new Uint8Array(1))
      return { backup: other }
    },
    { check: 'backup', state: 'fault', advice: 'name the backup, or an empty place' },
  ],
  [
    'the key of another log',
    () => ({
      settings: { LOG_SIGNING_KEY: signingKeyText('other.example/log', 'log', new Uint8Array(32).fill(8)) },
    }),
    { check: 'log key', state: 'fault', advice: 'docs/operate.md, The public log' },
  ],
  [
    'a store that does not answer',
    () => {
      store.list = () => {
        throw new ServiceError('unavailable', 'the store did not answer')
      }
      return {}
    },
    { check: 'inbox', state: 'fault', advice: expect.stringMatching(/^mount it, .* S3_ENDPOINT/) as string },
  ],
  [
    'a log that ends too early',
    () => {
      for (const path of store.objects.keys()) if (/^log\/\w+\/0+3\b/.test(path)) store.objects.delete(path)
      return {}
    },
    { check: 'log', state: 'fault', detail: 'the public log has 2 of 3 releases' },
  ],
  [
    'a witness that is silent',
    () => {
      for (const path of store.objects.keys()) if (path.startsWith('log/cosig')) store.objects.delete(path)
      return {}
    },
    {
      check: 'witnesses',
      state: 'note',
      detail: '0 of 1 witnesses have cosigned the last checkpoint; missing: witness.example',
    },
  ],
  [
    'an object that nobody takes in',
    async () => {
      await store.put('inbox/forecasts/stray.parquet', new Uint8Array(1))
      return {}
    },
    { check: 'inbox', state: 'fault', advice: 'fvs quarantine inbox/forecasts/stray.parquet --reason TEXT' },
  ],
  [
    'an intake that is open for long',
    async () => {
      const { row } = apiForecast(world.agentId, 50, THIRD, 0.5)
      const path = await send(store, 'forecasts', 'z', [row])
      for (let version = 1; ; version++) if (await putIntake(store, 'forecasts', version, [path])) break
      return {}
    },
    { check: 'intake', state: 'fault' },
  ],
  [
    'a file of settings that others can read',
    async () => {
      const settingsFile = join(folder, 'open.env')
      await writeFile(settingsFile, '')
      await chmod(settingsFile, 0o644)
      return { settingsFile }
    },
    { check: 'files', state: 'fault', advice: `chmod o= ${join(folder, 'open.env')}` },
  ],
  [
    'a store that is a backup',
    async () => {
      await writeCopyNote(store, { kind: 'backup', from: 'file:///x', as_of: null })
      return {}
    },
    { check: 'store', state: 'fault' },
  ],
  [
    'a shard of the current release that is gone',
    () => lose(/^releases\/0+3\/agent\//, 1),
    lostIn('releases', 1, 'releases/00000003/agent/'),
  ],
  [
    'a shard of an earlier release that is gone',
    () => lose(/^releases\/0+2\/forecaster\//, 1),
    lostIn('releases', 1, 'releases/00000002/forecaster/'),
  ],
  [
    'a data file that is gone',
    () => lose(/^tables\/forecasts\/recorded_date=/, 1),
    lostIn('tables', 1, 'tables/forecasts/recorded_date='),
  ],
  [
    'tiles of the log that are gone',
    () => lose(/^log\/tile\//),
    lostIn('log', 2, 'log/tile/0/000.p/3, log/tile/entries/000.p/3'),
  ],
  [
    'a newest release that is gone, with its log still there',
    () => lose(/^releases\/0+3\//),
    lostIn('releases', 2, 'releases/00000003/manifest.json, releases/00000003/plan.json'),
  ],
  [
    'credentials that are gone',
    () => issued({}, /^(?!credentials\/)/),
    {
      check: 'credentials',
      state: 'fault',
      detail: 'SANDBOX_CREDENTIAL_SIGNING_KEY is set, and none were issued',
    },
  ],
  [
    'files of credentials that are gone',
    () => {
      const sick = issued()
      lose(/^credentials\/0+1\/.*\/forecaster\//)
      return sick
    },
    lostIn('credentials', 1, 'credentials/00000001/'),
  ],
  [
    'a backup of another store',
    async () => {
      const other = join(folder, 'backup-of-another')
      await backUp(credentials, other)
      return { backup: other }
    },
    { check: 'backup', state: 'fault', detail: expect.stringMatching(/it is of another store/) as string },
  ],
  [
    'a Redis that does not answer',
    async () => ({ settings: { REDIS_URL: `redis://127.0.0.1:${await freePort()}` } }),
    {
      check: 'redis',
      state: 'fault',
      detail: expect.stringMatching(/does not answer.*: no node starts$/) as string,
      advice: 'start it, or correct REDIS_URL',
    },
  ],
  [
    'a PUBLIC_URL that is not that of the credentials',
    () => issued({ PUBLIC_URL: 'https://other.example' }),
    {
      check: 'credentials',
      state: 'fault',
      detail: expect.stringMatching(
        /^issue 1 names https:\/\/forecasts\.example\.org\/sandbox, and PUBLIC_URL makes it https:\/\/other\.example\/sandbox/,
      ) as string,
    },
  ],
  [
    'a key of credentials that was left out',
    () => issued({ SANDBOX_CREDENTIAL_SIGNING_KEY: '' }),
    { check: 'credentials', state: 'fault', advice: 'set SANDBOX_CREDENTIAL_SIGNING_KEY' },
  ],
  [
    'another key of credentials',
    () => issued({ SANDBOX_CREDENTIAL_SIGNING_KEY: credentialKeyText(new Uint8Array(32).fill(4)) }),
    {
      check: 'credentials',
      state: 'fault',
      advice: 'set that key as SANDBOX_CREDENTIAL_SIGNING_KEY_PREVIOUS',
    },
  ],
  [
    'a manifest in the middle that is gone',
    () => lose(/^releases\/0+2\/manifest/),
    lostIn('releases', 1, 'releases/00000002/manifest.json'),
  ],
  [
    'a plan that is gone',
    () => lose(/^releases\/0+1\/plan/),
    lostIn('releases', 1, 'releases/00000001/plan.json'),
  ],
  [
    'a tree of forecasts that is gone',
    () => lose(/^releases\/0+2\/forecasts\.tree$/),
    lostIn('releases', 1, 'releases/00000002/forecasts.tree'),
  ],
  [
    'a file that was cut off',
    () => {
      const path = [...store.objects.keys()].find((each) => /^releases\/0+3\/scores\//.test(each))!
      store.objects.set(path, store.objects.get(path)!.subarray(1))
      return {}
    },
    lostIn('releases', 1, 'releases/00000003/scores/'),
  ],
  [
    'a snapshot of an earlier day that is gone',
    () => lose(/^snapshots\/[^/]+\/manifest/, 1),
    lostIn('snapshots', 1, 'snapshots/'),
  ],
  [
    'a shard of a snapshot that is gone',
    () => lose(/^snapshots\/[^/]+\/forecaster\//, 1),
    lostIn('snapshots', 1, 'snapshots/'),
  ],
  [
    'a commit of a table that is gone',
    () => lose(/^tables\/forecasts\/_delta_log\/0+0\.json/),
    lostIn('tables', 1, 'tables/forecasts/_delta_log/00000000000000000000.json'),
  ],
  [
    'a checkpoint of the log that is gone',
    () => lose(/^log\/checkpoints\/0+2$/),
    lostIn('log', 1, 'log/checkpoints/00000002'),
  ],
  [
    'a folder of releases that is gone',
    () => lose(/^releases\//),
    lostIn('releases', 6, 'releases/00000001/manifest.json'),
  ],
  [
    'a segment of events in the middle that is gone',
    async () => {
      await store.put(feedPath(3), new Uint8Array(1))
      return {}
    },
    lostIn('feed', 2, 'feed/00000000000000000001.json'),
  ],
]

test.for(troubles)('names %s', async ([, sicken, finding]) => {
  const findings = await found(await sicken())
  expect(findings).toContainEqual(expect.objectContaining(finding))
  expect(JSON.stringify(findings)).not.toMatch(
    new RegExp(`${SECRET}|${OTHER_SECRET}|${'ab'.repeat(20)}|PRIVATE`),
  )
})

test('shows the text of a hostile backup on one line', async () => {
  const parse = () => {
    throw new ServiceError('conflict', 'a backup of \u001b[31m\nok   store  all is well')
  }
  const { text } = await runDoctor(parse, 'production', {})
  expect(text.split('\n')).toEqual([
    expect.stringMatching(/^FIX {2}store {2}a backup of \\u\{1b\}\[31m\\u\{a\}ok {3}store/),
    '1 thing must be done',
  ])
})

test('names wrong settings, and does not throw', async () => {
  const parse = () => {
    throw new ServiceError('invalid', 'wrong settings', {
      faults: [{ pointer: 'PORT', detail: 'must be a number' }],
    })
  }
  expect(await runDoctor(parse, 'production', {})).toMatchObject({
    ok: false,
    text: 'FIX  settings  PORT: must be a number — correct it: docs/settings.md\n1 thing must be done',
  })
})
