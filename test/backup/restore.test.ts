// A restore counts as done once every object of the backup is right in the store, and not before.
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { runBackup, runRestore } from '../../jobs/backup/backup.ts'
import { withComponents } from '../../jobs/components/components.ts'
import { runDoctor } from '../../jobs/doctor/doctor.ts'
import { writeCopyNote } from '../../pipeline/backup/note.ts'
import { FileStore } from '../../pipeline/store/file.ts'
import { parseSettings } from '../../schemas/config.ts'
import { ENVIRONMENTS, type Environment } from '../../schemas/values.ts'
import { testFolder } from '../support/folder.ts'
import { contentOf } from '../support/store-content.ts'
import { copyReleasedWorld } from '../support/worlds/world.ts'

let places: Record<'store' | 'good' | 'bad' | 'back', string>
beforeEach(async () => {
  const folder = await testFolder()
  places = {
    store: join(folder, 'store'),
    good: join(folder, 'good'),
    bad: join(folder, 'bad'),
    back: join(folder, 'back'),
  }
  await copyReleasedWorld(await FileStore.begin(places.store))
  await (await FileStore.begin(join(places.store, 'sandbox'))).put('registry/keys/a.json', Buffer.from('{}'))
  for (const place of [places.good, places.bad]) await backup(place)
})

const settingsAt = (STORE_URL: string) => parseSettings({ STORE_URL, LOG_LEVEL: 'silent' })
const backup = (to: string) =>
  runBackup(settingsAt(places.store), to, { comparesAll: false }, new Date('2026-03-03T00:00:00Z'))
const restore = (from: string) => runRestore(settingsAt(places.back), from, {})
const content = async (folder: string) => contentOf(await FileStore.open(folder))
const opened = (environment: Environment) =>
  withComponents(settingsAt(places.back), environment, 'writes', () => Promise.resolve('open'))

const CASES: [name: string, path: RegExp, damage: (file: string) => Promise<void>][] = [
  ['damaged in production', /^releases\/00000001\/forecaster/, (file) => writeFile(file, '{')],
  ['damaged in the sandbox', /^sandbox\/registry/, (file) => writeFile(file, '{"checksum":"0"}')],
  ['gone from the backup', /^releases\/00000001\/forecaster/, (file) => rm(file)],
]

test.for(CASES)(
  'a restore with an object that is %s is not done, and a good backup completes it',
  { tags: ['slow'] },
  async (each) => {
    const [, wanted, damage] = each
    const found = await readdir(places.bad, { recursive: true })
    const path = found.find((name) => wanted.test(name) && name.endsWith('.json'))!
    await damage(join(places.bad, path))

    const first = await restore(places.bad)
    expect(first).toMatchObject({
      ok: false,
      text: expect.stringContaining(`fault: ${path.replace('sandbox/', '')} is `) as string,
      aside: expect.stringContaining('no service starts on the store') as string,
    })
    for (const environment of ENVIRONMENTS)
      await expect(opened(environment)).rejects.toThrow(/is not restored to the end; run fvs restore/)
    const settings = settingsAt(places.back)
    expect((await runDoctor(() => settings, 'production', {})).text).toMatch(
      /^FIX {2}store {2}.* not restored/,
    )

    expect(await restore(places.good)).toMatchObject({ ok: true })
    expect(await content(places.back)).toEqual(await content(places.store))
    for (const environment of ENVIRONMENTS) expect(await opened(environment)).toBe('open')
  },
)

test(
  'a restore that was cut off between its two environments is completed by the next',
  { tags: ['slow'] },
  async () => {
    await restore(places.good)
    // The note of production goes last.
    await writeCopyNote(await FileStore.open(places.back), {
      kind: 'restore',
      from: places.good,
      as_of: null,
    })
    expect(await restore(places.good)).toMatchObject({ ok: true })
    for (const environment of ENVIRONMENTS) expect(await opened(environment)).toBe('open')
  },
)

test('a store is no backup', { tags: ['slow'] }, async () => {
  await expect(restore(places.store)).rejects.toThrow(/is a store and no backup.*fvs backup/)
  expect(await readdir(places.back).catch(() => [])).toEqual([])
})
