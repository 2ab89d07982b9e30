import { access, mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ServiceError } from '../../schemas/errors.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { FileStore } from '../../pipeline/store/file.ts'
import type { Content } from '../../pipeline/store/body.ts'
import { LocalFiles } from '../../pipeline/store/local-files.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { testFolder } from '../support/folder.ts'

const MIB = 1024 * 1024
const OBJECT = 'a/b'
const BYTES = new Uint8Array([1, 2, 3])
const KNOWN = contentOf(BYTES)

/** What can be wrong with received bytes. */
const DAMAGE: Record<string, (bytes: Uint8Array) => Uint8Array> = {
  'a flipped bit': (bytes) => bytes.map((byte, index) => (index === 1 ? byte ^ 1 : byte)),
  'a missing end': (bytes) => bytes.subarray(0, -1),
  nothing: () => new Uint8Array(),
}

describe('local files of a store in a directory', () => {
  test('are the files of the store', async () => {
    const { root, cache, local, store } = await inFolder()
    expect(await local.path(OBJECT, KNOWN)).toBe(join(root, 'a', 'b'))
    await local.forget(OBJECT)
    expect(await store.get(OBJECT)).toBeDefined()
    await expect(local.path('a/c', KNOWN)).rejects.toMatchObject({ kind: 'notFound' })
    expect(await readdir(cache)).toEqual([])
  })

  test('are not taken for absent while the directory is away', async () => {
    const { root, local } = await inFolder()
    await local.path(OBJECT, KNOWN)
    await rename(root, `${root}-away`)
    await expect(local.path(OBJECT, KNOWN)).rejects.toMatchObject({ kind: 'unavailable' })
    await rename(`${root}-away`, root)
    expect(await local.path(OBJECT, KNOWN)).toBe(join(root, 'a', 'b'))
  })

  test.for(Object.entries(DAMAGE))('are refused with %s', async ([, damage]) => {
    const { root, local } = await inFolder()
    const found = damage(BYTES)
    await writeFile(join(root, 'a', 'b'), found)
    await expect(local.path(OBJECT, KNOWN)).rejects.toMatchObject({
      kind: 'corrupt',
      message: `a/b is damaged: expected the SHA-256 ${KNOWN.sha256} and 3 bytes, found ${sha256Hex(found)} and ${found.length} bytes`,
    })
    await writeFile(join(root, 'a', 'b'), BYTES)
    expect(await local.path(OBJECT, KNOWN)).toBe(join(root, 'a', 'b'))
  })
})

describe('local files of another store', () => {
  test.for([
    ['an empty object', 0, 1],
    ['a small one', 5, 1],
    ['one that fills its last piece', 16 * MIB, 3],
    ['one of three pieces', 20 * MIB, 3],
  ] as const)('are copied piece by piece: %s', { tags: ['slow'] }, async ([, sizeBytes, pieces]) => {
    const content = new Uint8Array(sizeBytes).map((_, index) => index % 251)
    const { store, local } = await cached(content)
    const path = await local.path(OBJECT, contentOf(content))
    expect(Buffer.compare(await readFile(path), content)).toBe(0)
    expect(store.count('range')).toBe(pieces)
    expect(store.count('get', 'list')).toBe(0)
  })

  test('are copied once: a second call reads nothing, nor does another process on the same cache', async () => {
    const { store, local, cache } = await cached()
    const path = await local.path(OBJECT, KNOWN)
    const calls = store.calls.length
    expect(await local.path(OBJECT, KNOWN)).toBe(path)
    expect(await new LocalFiles(store, cache).path(OBJECT, KNOWN)).toBe(path)
    expect(store.calls).toHaveLength(calls)
  })

  test('are the same for simultaneous callers', { tags: ['slow'] }, async () => {
    const content = new Uint8Array(9 * MIB).fill(7)
    const { local } = await cached(content)
    const paths = await Promise.all(Array.from({ length: 8 }, () => local.path(OBJECT, contentOf(content))))
    expect(new Set(paths).size).toBe(1)
    expect(Buffer.compare(await readFile(paths[0]!), content)).toBe(0)
    expect(await files(join(paths[0]!, '..'))).toEqual(['b'])
  })

  test(
    'leave nothing of a copy that broke off, and are complete the next time',
    { tags: ['slow'] },
    async () => {
      let reachable = false
      const content = new Uint8Array(20 * MIB).fill(7)
      const { store, local, cache } = await cached(content, () => {
        if (store.count('range') === 2 && !reachable) throw new Error('the store went away')
      })
      await expect(local.path(OBJECT, contentOf(content))).rejects.toThrow('the store went away')
      expect(await files(join(cache, 'a'))).toEqual([])
      reachable = true
      expect(Buffer.compare(await readFile(await local.path(OBJECT, contentOf(content))), content)).toBe(0)
    },
  )

  test('do not exist for an absent object, and leave no trace of it', async () => {
    const { local, cache } = await cached()
    await expect(local.path('a/c', KNOWN)).rejects.toMatchObject({ kind: 'notFound' })
    expect(await files(join(cache, 'a'))).toEqual([])
  })

  test('are not taken from a half copy that a dead process left', async () => {
    const { local, cache } = await cached()
    await mkdir(join(cache, 'a'))
    await writeFile(join(cache, 'a', 'b.0e6c6a1e.partial'), 'half')
    expect(await readFile(await local.path(OBJECT, KNOWN))).toHaveLength(3)
  })

  test('are deleted when they are forgotten', async () => {
    const { store, local } = await cached()
    const path = await local.path(OBJECT, KNOWN)
    await local.forget(OBJECT)
    await local.forget(OBJECT)
    await expect(access(path)).rejects.toThrow('ENOENT')
    expect(await store.get(OBJECT)).toBeDefined()
    expect(await local.path(OBJECT, KNOWN)).toBe(path)
  })

  test('refuse a path that leads out of the cache', async () => {
    const { local } = await cached()
    await expect(local.path('../b', KNOWN)).rejects.toMatchObject({ kind: 'invalid' })
    await expect(local.forget('../b')).rejects.toMatchObject({ kind: 'invalid' })
  })

  test('are checked against the first digits of a hash where no more is known', async () => {
    const { local } = await cached()
    const sha256 = KNOWN.sha256.slice(0, 16)
    expect(await readFile(await local.path(OBJECT, { sha256 }))).toHaveLength(3)
    await expect(local.path(OBJECT, { sha256: `f${sha256.slice(1)}` })).rejects.toMatchObject({
      kind: 'corrupt',
    })
  })
})

describe.for(Object.entries(DAMAGE))('a download with %s', ([, damage]) => {
  test('is made once more, and the cache keeps the good one', async () => {
    const { objects, local } = await cached(damage(BYTES), (store) => {
      if (store.count('range') === 2) objects.set(OBJECT, BYTES)
    })
    expect(await readFile(await local.path(OBJECT, KNOWN))).toHaveLength(3)
  })

  test('names the object and its place in the cache if the second is no better, and keeps neither', async () => {
    const { objects, local, cache } = await cached(damage(BYTES))
    const place = join(cache, 'a', 'b')
    await expect(local.path(OBJECT, KNOWN)).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringMatching(
        `^a/b is damaged: expected .*; no copy of it was kept at ${place}$`,
      ) as string,
    })
    expect(await files(join(cache, 'a'))).toEqual([])
    objects.set(OBJECT, BYTES)
    expect(await readFile(await local.path(OBJECT, KNOWN))).toHaveLength(3)
  })

  test('that an earlier process kept is replaced', async () => {
    const { store, local, cache } = await cached()
    await mkdir(join(cache, 'a'))
    await writeFile(join(cache, 'a', 'b'), damage(BYTES))
    expect(await readFile(await local.path(OBJECT, KNOWN))).toHaveLength(3)
    expect(store.count('range')).toBe(1)
  })
})

describe('a read that fails', () => {
  const corrupt = new ServiceError('corrupt', 'Out of buffer')

  test.for(Object.entries(DAMAGE))(
    'because a copy now has %s is repeated on a fresh copy',
    async ([, damage]) => {
      const { local } = await cached()
      const path = await local.path(OBJECT, KNOWN)
      await writeFile(path, damage(BYTES))
      const read = () =>
        local.reading(async () => {
          if (Buffer.compare(await readFile(path), BYTES) !== 0) throw corrupt
          return 'read'
        })
      expect(await read()).toBe('read')
    },
  )

  test('although every copy is right fails as it did, and is not repeated', async () => {
    const { local } = await cached()
    await local.path(OBJECT, KNOWN)
    let reads = 0
    const read = () => {
      reads += 1
      return Promise.reject(corrupt)
    }
    await expect(local.reading(read)).rejects.toBe(corrupt)
    expect(reads).toBe(1)
  })

  test('names the object if that is damaged itself', async () => {
    const { root, local } = await inFolder()
    await local.path(OBJECT, KNOWN)
    await writeFile(join(root, 'a', 'b'), 'x')
    await expect(local.reading(() => Promise.reject(corrupt))).rejects.toThrow(/^a\/b is damaged/)
  })

  test('for another reason is not repeated', async () => {
    const { local } = await cached()
    const away = new ServiceError('unavailable', 'the store went away')
    await writeFile(await local.path(OBJECT, KNOWN), 'x')
    await expect(local.reading(() => Promise.reject(away))).rejects.toBe(away)
  })
})

function contentOf(bytes: Uint8Array): Content {
  return { sha256: sha256Hex(bytes), sizeBytes: bytes.byteLength }
}

/** A store in a folder that holds one object. */
async function inFolder() {
  const [root, cache] = [await testFolder(), await testFolder()]
  const store = await FileStore.begin(root)
  await store.put(OBJECT, BYTES)
  return { root, cache, store, local: new LocalFiles(store, cache) }
}

/** Another store that holds one object, with a cache. */
async function cached(bytes: Uint8Array = BYTES, before: (store: FaultStore) => void = () => undefined) {
  const memory = new MemoryStore()
  await memory.put(OBJECT, bytes)
  const store: FaultStore = new FaultStore(memory, {
    before: () => {
      before(store)
    },
  })
  const cache = await testFolder()
  return { objects: memory.objects, store, cache, local: new LocalFiles(store, cache) }
}

async function files(folder: string): Promise<string[]> {
  return (await readdir(folder)).sort()
}
