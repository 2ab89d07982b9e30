// Damage in the store: a release is never made from bytes that were not written, and goes on once they are
// restored.
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { deltaLogPath } from '../../pipeline/store/paths.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, release, testComponents } from '../support/http/service.ts'
import { contentOf, copyOf } from '../support/store-content.ts'
import { NOW, importWorld } from '../support/worlds/world.ts'

const folder = await suiteFolder()
const imported = new MemoryStore()
let whole: Record<string, string>

/** With a cache of its own, as on a machine that has not read the store before. */
const componentsOver = async (store: MemoryStore) =>
  testComponents({ store, folder: await mkdtemp(join(folder, 'machine-')), clock: new Clock(NOW) })

beforeAll(async () => {
  await importWorld(await testComponents({ store: imported, folder, clock: new Clock(NOW) }))
  const store = copyOf(imported)
  await release(await componentsOver(store))
  whole = await contentOf(store)
})

async function expectRefused(store: MemoryStore, message: RegExp, context: string): Promise<void> {
  const before = await contentOf(store)
  await expect(release(await componentsOver(store)), context).rejects.toMatchObject({
    kind: 'corrupt',
    message: expect.stringMatching(message) as string,
  })
  const after = await contentOf(store)
  expect(after, context).toMatchObject(before)
  const made = Object.keys(after).filter((path) => /^(?:releases|snapshots)\//.test(path))
  expect(
    made.filter((path) => !path.endsWith('/plan.json')),
    context,
  ).toEqual([])
}

async function expectHealed(store: MemoryStore, path: string): Promise<void> {
  store.objects.set(path, imported.objects.get(path)!)
  await release(await componentsOver(store), { ifChanged: true })
  expect(await contentOf(store)).toEqual(whole)
}

/** A fault that a test can repeat: the bits are those of a linear congruential generator. */
function* bits(sizeBytes: number, count: number): Iterable<number> {
  for (let nth = 0, state = 1; nth < count; nth++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    yield state % (8 * sizeBytes)
  }
}

const flipped = (bytes: Uint8Array, bit: number) =>
  bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))

const dataFile = () =>
  [...imported.objects.keys()].find((path) => /^tables\/forecasts\/.*parquet$/.test(path))!

describe('a data file', () => {
  test('with any one flipped bit is not scored, and named', { tags: ['slow'] }, async () => {
    const path = dataFile()
    const bytes = imported.objects.get(path)!
    const store = copyOf(imported)
    for (const bit of bits(bytes.length, 12)) {
      store.objects.set(path, flipped(bytes, bit))
      await expectRefused(store, new RegExp(`^${path} is damaged: expected the SHA-256`), `bit ${bit}`)
    }
    await expectHealed(store, path)
  })

  test(
    'that ends early, is gone or was swapped with another is not scored, and named',
    { tags: ['slow'] },
    async () => {
      const path = dataFile()
      const other = [...imported.objects.keys()].find((name) => /^tables\/questions\/.*parquet$/.test(name))!
      const store = copyOf(imported)
      store.objects.set(path, imported.objects.get(path)!.subarray(0, -1))
      await expectRefused(store, new RegExp(`^${path} is damaged`), 'truncated')
      store.objects.set(path, imported.objects.get(other)!)
      await expectRefused(store, new RegExp(`^${path} is damaged`), 'swapped')
      store.objects.delete(path)
      await expectRefused(
        store,
        new RegExp(`^${path} is in the log of its table and not in the store`),
        'gone',
      )
      await expectHealed(store, path)
    },
  )
})

describe('a commit', () => {
  const path = deltaLogPath('forecasts', 1)
  const named = new RegExp(`^${path} is not a whole commit of this service`)

  test('with any one flipped bit is not read', { tags: ['slow'] }, async () => {
    const bytes = imported.objects.get(path)!
    const store = copyOf(imported)
    for (const bit of bits(bytes.length, 12)) {
      store.objects.set(path, flipped(bytes, bit))
      await expectRefused(store, named, `bit ${bit}`)
    }
    await expectHealed(store, path)
  })

  test(
    'that ends after one of its lines, or belongs to another version or table, is not read',
    { tags: ['slow'] },
    async () => {
      const text = new TextDecoder().decode(imported.objects.get(path))
      const store = copyOf(imported)
      const others = [
        Buffer.from(text.slice(0, text.indexOf('\n') + 1)),
        imported.objects.get(deltaLogPath('forecasts', 0))!,
        imported.objects.get(deltaLogPath('questions', 1))!,
      ]
      for (const [index, bytes] of others.entries()) {
        store.objects.set(path, bytes)
        await expectRefused(store, named, `case ${index}`)
      }
      await expectHealed(store, path)
    },
  )
})
