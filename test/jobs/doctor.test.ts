// `fvs doctor`: a store without a fault has none, and each trouble is named with what to do.
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { type DoctorOptions, diagnose, runDoctor } from '../../jobs/doctor.ts'
import type { Finding } from '../../jobs/doctor/finding.ts'
import { writeCopyNote } from '../../pipeline/backup/note.ts'
import { FileStore } from '../../pipeline/store/file.ts'
import type { MemoryStore } from '../../pipeline/store/memory.ts'
import { putIntake } from '../../pipeline/tables/intake.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, OTHER_SECRET, SECRET, testComponents } from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'
import { send } from '../support/tables.ts'
import { type LoggedWorld, THIRD, WITNESS, loggedWorld } from '../support/worlds/logged-world.ts'
import { apiForecast } from '../support/http/api-forecasts.ts'
import { signingKeyText, verifierKeyText } from '../../pipeline/proof/note-keys.ts'
import { LOG_SECRET } from '../support/worlds/written-log.ts'

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
beforeAll(async () => {
  world = await loggedWorld(folder)
  await writeCopyNote(await FileStore.begin(backup), { kind: 'backup', from: 'memory:', as_of: after(0) })
})
beforeEach(() => {
  // The store gives each object the time of the clock, so that its clock is right.
  store = copyOf(world.store)
})

interface Sick extends DoctorOptions {
  at?: string
  settings?: Record<string, string>
}

async function found({ at = after(2), settings = {}, ...options }: Sick = {}): Promise<Finding[]> {
  const clock = new Clock(at)
  const components = await testComponents({ store, folder, clock, settings: { ...SETTINGS, ...settings } })
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
      'release',
      'log',
      'witnesses',
      'questions',
      'backup',
    ]),
  )
})

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
    { check: 'log key', state: 'fault', advice: 'docs/log-operator.md' },
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
