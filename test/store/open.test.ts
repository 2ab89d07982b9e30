import { access, mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { FileStore } from '../../pipeline/store/file.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { openStore } from '../../pipeline/store/open.ts'
import { LocalFiles } from '../../pipeline/store/local-files.ts'
import { S3Store } from '../../pipeline/store/s3.ts'
import { FaultStore } from '../support/fault-store.ts'
import { testFolder } from '../support/folder.ts'

const MIB = 1024 * 1024

describe('openStore', () => {
  test('takes a path, relative or absolute, and a file URL, as a directory', async () => {
    const folder = await testFolder()
    const url = pathToFileURL(folder).href
    for (const name of [folder, url, `${folder}/`]) {
      const store = openStore({ url: name })
      expect(store).toBeInstanceOf(FileStore)
      expect(store.localPath!('a/b')).toBe(join(folder, 'a', 'b'))
    }
    expect(openStore({ url: './data' }).localPath!('a')).toBe(join(process.cwd(), 'data', 'a'))
  })

  test('takes a directory with a space or a percent sign in its name', () => {
    expect(openStore({ url: 'file:///a%20b/100%25' }).localPath!('c')).toBe('/a b/100%/c')
    expect(openStore({ url: '/a b/100%' }).localPath!('c')).toBe('/a b/100%/c')
  })

  test.for([
    ['s3://bucket', 's3://bucket/'],
    ['s3://bucket/', 's3://bucket/'],
    ['s3://bucket/some/prefix', 's3://bucket/some/prefix/'],
    ['s3://bucket/some/prefix/', 's3://bucket/some/prefix/'],
  ])('takes %s as a bucket', ([url, opened]) => {
    const store = openStore({ url: url! })
    expect(store).toBeInstanceOf(S3Store)
    expect(store.url).toBe(opened)
    expect(store).not.toHaveProperty('localPath')
  })

  test.for([
    'http://bucket/prefix',
    'gs://bucket',
    's3:bucket',
    's3://',
    's3:///prefix',
    's3://bucket/a//b',
    's3://bucket/.hidden',
    's3://bucket/a b',
    'file://host/folder',
    'memory:',
  ])('refuses %s and says what was wrong', (url) => {
    expect(() => openStore({ url })).toThrow(
      expect.objectContaining({ kind: 'invalid', message: expect.stringMatching(/^not a /) as string }),
    )
  })
})

describe('local files of a store in a directory', () => {
  test('are the files of the store', async () => {
    const [root, cache] = [await testFolder(), await testFolder()]
    const store = new FileStore(root)
    await store.put('a/b', new Uint8Array([1]))
    const local = new LocalFiles(store, cache)
    expect(await local.path('a/b')).toBe(join(root, 'a', 'b'))
    await local.forget('a/b')
    expect(await store.get('a/b')).toBeDefined()
    await expect(local.path('a/c')).rejects.toMatchObject({ kind: 'notFound' })
    expect(await readdir(cache)).toEqual([])
  })
})

describe('local files of another store', () => {
  test.for([
    ['an empty object', 0, 1],
    ['a small one', 5, 1],
    ['one that fills its last piece', 16 * MIB, 3],
    ['one of three pieces', 20 * MIB, 3],
  ] as const)('are copied piece by piece: %s', async ([, sizeBytes, pieces]) => {
    const { store, local } = await cached()
    const content = new Uint8Array(sizeBytes).map((_, index) => index % 251)
    await store.put('a/b', content)
    const path = await local.path('a/b')
    expect(Buffer.compare(await readFile(path), content)).toBe(0)
    expect(store.count('range')).toBe(pieces)
    expect(store.count('get', 'list')).toBe(0)
  })

  test('are copied once: a second call reads nothing, nor does another process on the same cache', async () => {
    const { store, local, cache } = await cached()
    await store.put('a/b', new Uint8Array([1, 2]))
    const path = await local.path('a/b')
    const calls = store.calls.length
    expect(await local.path('a/b')).toBe(path)
    expect(await new LocalFiles(store, cache).path('a/b')).toBe(path)
    expect(store.calls).toHaveLength(calls)
  })

  test('are the same for simultaneous callers', async () => {
    const { store, local } = await cached()
    const content = new Uint8Array(9 * MIB).fill(7)
    await store.put('a/b', content)
    const paths = await Promise.all(Array.from({ length: 8 }, () => local.path('a/b')))
    expect(new Set(paths).size).toBe(1)
    expect(Buffer.compare(await readFile(paths[0]!), content)).toBe(0)
    expect(await files(join(paths[0]!, '..'))).toEqual(['b'])
  })

  test('leave nothing of a copy that broke off, and are complete the next time', async () => {
    let reachable = false
    const { store, local, cache } = await cached(() => {
      if (store.count('range') === 2 && !reachable) throw new Error('the store went away')
    })
    const content = new Uint8Array(20 * MIB).fill(7)
    await store.put('a/b', content)
    await expect(local.path('a/b')).rejects.toThrow('the store went away')
    expect(await files(join(cache, 'a'))).toEqual([])
    reachable = true
    expect(Buffer.compare(await readFile(await local.path('a/b')), content)).toBe(0)
  })

  test('do not exist for an absent object, and leave no trace of it', async () => {
    const { local, cache } = await cached()
    await expect(local.path('a/b')).rejects.toMatchObject({ kind: 'notFound' })
    expect(await files(join(cache, 'a'))).toEqual([])
  })

  test('are not taken from a half copy that a dead process left', async () => {
    const { store, local, cache } = await cached()
    await store.put('a/b', new Uint8Array([1, 2, 3]))
    await mkdir(join(cache, 'a'))
    await writeFile(join(cache, 'a', 'b.0e6c6a1e.partial'), 'half')
    expect(await readFile(await local.path('a/b'))).toHaveLength(3)
  })

  test('are deleted when they are forgotten', async () => {
    const { store, local } = await cached()
    await store.put('a/b', new Uint8Array([1]))
    const path = await local.path('a/b')
    await local.forget('a/b')
    await local.forget('a/b')
    await expect(access(path)).rejects.toThrow('ENOENT')
    expect(await store.get('a/b')).toBeDefined()
    expect(await local.path('a/b')).toBe(path)
  })

  test('refuse a path that leads out of the cache', async () => {
    const { local } = await cached()
    await expect(local.path('../b')).rejects.toMatchObject({ kind: 'invalid' })
    await expect(local.forget('../b')).rejects.toMatchObject({ kind: 'invalid' })
  })
})

async function cached(
  before: () => void = () => undefined,
): Promise<{ store: FaultStore; local: LocalFiles; cache: string }> {
  const store = new FaultStore(new MemoryStore(), { before })
  const cache = await testFolder()
  return { store, local: new LocalFiles(store, cache), cache }
}

async function files(folder: string): Promise<string[]> {
  return (await readdir(folder)).sort()
}
