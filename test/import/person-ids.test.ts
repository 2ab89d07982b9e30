// Ids of people that follow from user names, or from what a platform calls them, and a secret.
// @module-tag slow
import { createHmac } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { v5 as uuidv5 } from 'uuid'
import { expect, test } from 'vitest'
import { runImport } from '../../jobs/import/import.ts'
import { runImportFrom } from '../../jobs/import/import-from.ts'
import type { ImportKind } from '../../pipeline/import/columns.ts'
import { parseOptions } from '../../pipeline/import/options.ts'
import { personId } from '../../pipeline/import/person-ids.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, testComponents } from '../support/http/service.ts'
import { namesOf } from '../support/people.ts'
import { contentOf } from '../support/store-content.ts'
import { filesOf, rowsOf, sourceOf } from '../support/worlds/source-cases.ts'
import { NOW } from '../support/worlds/world.ts'

const SECRET = 'a secret of at least thirty-two bytes'
const [KEYED, PLAIN] = ['6ba7b811-9dad-11d1-80b4-00c04fd430c8', '6ba7b810-9dad-11d1-80b4-00c04fd430c8']

const store = new MemoryStore()
const folder = await suiteFolder()

const settingsWith = (secret?: string): Record<string, string> =>
  secret === undefined ? {} : { IDS_SECRET: secret }

async function imported(kind: ImportKind, content: string, namespace: string | string[], secret?: string) {
  const components = await testComponents({
    store,
    folder,
    clock: new Clock(NOW),
    settings: settingsWith(secret),
  })
  const path = join(components.directory, `${kind}.csv`)
  await writeFile(path, content)
  return (await runImport(components, kind, path, parseOptions(kind, { ids: 'text', namespace }))).json
}

const people = 'user_id,display_name\nada,Ada\n'
const questions =
  'question_id,title,opened_at,closes_at\nq,Will it?,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z\n'
const forecasts =
  'entity_type,entity_id,question_id,probability,forecast_at\nforecaster,ada,q,0.5,2026-01-02T00:00:00Z\n'

test('a person has one id in files of every kind, which only the secret gives', async () => {
  await imported('forecasters', people, PLAIN)
  await imported('forecasters', people, [KEYED, KEYED], SECRET)
  await imported('questions', questions, KEYED, SECRET)
  expect(await imported('forecasts', forecasts, KEYED, SECRET)).toMatchObject({ forecasters_created: 0 })
  const id = personId(SECRET, KEYED, 'ada')
  expect(await namesOf(store, [id, personId(SECRET, KEYED, 'eve')])).toEqual(['Ada', null])
  const hex = createHmac('sha256', SECRET).update(`${KEYED}\nada`).digest('hex')
  expect(id).toMatch(new RegExp(`^${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-[89ab]`))
  expect(id.slice(-12)).toBe(hex.slice(20, 32))
})

test('a namespace goes on as it began, with its secret or without one', async () => {
  const before = await contentOf(store)
  for (const [other, said] of [
    [undefined, 'not set'],
    [`${SECRET}!`, 'another one'],
  ] as const) {
    await expect(imported('forecasters', people, KEYED, other)).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining(`IDS_SECRET is ${said}: every person would get a new id`),
    })
  }
  for (const secret of [undefined, SECRET]) {
    expect(await imported('forecasters', people, PLAIN, secret)).toMatchObject({ added: 0, unchanged: 1 })
  }
  expect(await contentOf(store)).toEqual(before)
})

const manifold = sourceOf('manifold')
const onPlatform = (platform: Store, secret?: string) =>
  testComponents({
    store: platform,
    folder,
    clock: new Clock('2026-11-26T12:00:00.000Z'),
    settings: settingsWith(secret),
  })
async function importedFrom(platform: Store, paths: readonly string[], secret?: string): Promise<string> {
  const components = await onPlatform(platform, secret)
  await runImportFrom(components, manifold, paths)
  return rowsOf(components)
}
const [KEYED_ID, PLAIN_ID] = [personId(SECRET, manifold.namespace, 'u1'), uuidv5('u1', manifold.namespace)]

test('people of a platform have ids that only the secret gives, in every import of it', async () => {
  const own = new MemoryStore()
  const [bets, markets] = await filesOf('manifold')
  await importedFrom(own, [markets!], SECRET)
  const rows = await importedFrom(own, [bets!], SECRET)
  expect(rows).toContain(KEYED_ID)
  expect(rows).not.toContain(PLAIN_ID)
  const before = await contentOf(own)
  for (const [other, said] of [
    [undefined, 'not set'],
    [`${SECRET}!`, 'another one'],
  ] as const) {
    await expect(importedFrom(own, [bets!], other)).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining(`of manifold follow from a secret, and IDS_SECRET is ${said}`),
    })
  }
  expect(await contentOf(own)).toEqual(before)
})

test('a platform that was imported without the secret goes on without it', async () => {
  const own = new MemoryStore()
  const [bets, markets] = await filesOf('manifold')
  await importedFrom(own, [markets!])
  const rows = await importedFrom(own, [bets!], SECRET)
  expect(rows).toContain(PLAIN_ID)
  expect(rows).not.toContain(KEYED_ID)
})

test('an import of a platform that is cut off goes on with the same ids', async () => {
  const paths = await filesOf('manifold')
  const rows = await importedFrom(new MemoryStore(), paths, SECRET)
  for (const at of [1, 2, 3, 8]) {
    const own = new MemoryStore()
    const broken = new FaultStore(own, { at, fault: 'failed but persisted', crash: true })
    await importedFrom(broken, paths, SECRET).catch(() => undefined)
    expect(broken.writes).toBeGreaterThanOrEqual(at)
    expect(await importedFrom(own, paths, SECRET)).toBe(rows)
  }
})
