import { mkdirSync, renameSync } from 'node:fs'
import { cp, mkdir, readFile, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { FileStore } from '../../pipeline/store/file.ts'
import { testFolder } from '../support/folder.ts'
import { storeContract } from '../support/store-contract.ts'

storeContract('a store in a directory', async () => FileStore.begin(await testFolder()))

describe('a store in a directory', () => {
  test('makes the directory where it is not there yet', async () => {
    const root = join(await testFolder(), 'yet', 'to', 'be', 'made')
    const store = await FileStore.begin(root)
    await store.put('a', bytes('1'))
    expect(await readFile(join(root, 'a'), 'utf8')).toBe('1')
  })

  test('lists its objects, but neither staged files nor those of others', async () => {
    const root = await testFolder()
    const store = await FileStore.begin(root)
    await store.putIfAbsent('a/b', bytes('1'))
    await writeFile(join(root, '.staging', 'leftover'), '2')
    await writeFile(join(root, '.DS_Store'), '3')
    await writeFile(join(root, 'a', '.b.swp'), '4')
    await mkdir(join(root, 'lost+found'))
    await writeFile(join(root, 'lost+found', 'c'), '5')
    expect(await pathsIn(store, '')).toEqual(['a/b'])
    expect(await pathsIn(store, 'a/')).toEqual(['a/b'])
    await expect(pathsIn(store, '.staging/')).rejects.toMatchObject({ kind: 'invalid' })
  })

  test('leaves nothing staged behind a create, a refused create, a put and a failure', async () => {
    const root = await testFolder()
    const store = await FileStore.begin(root)
    await store.putIfAbsent('a', bytes('1'))
    await store.putIfAbsent('a', bytes('2'))
    await store.put('b', bytes('3'))
    await expect(store.put('a/beneath-a-file', bytes('4'))).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await readdir(join(root, '.staging'))).toEqual([])
  })

  test('ignores staged files that a crash left, and removes those that are more than a day old', async () => {
    const root = await testFolder()
    await mkdir(join(root, '.staging'))
    const [old, fresh] = [join(root, '.staging', 'old'), join(root, '.staging', 'fresh')]
    await writeFile(old, 'half an obj')
    await writeFile(fresh, 'half an obj')
    const twoDaysAgo = new Date(Date.now() - 2 * 24 * 60 * 60 * 1000)
    await utimes(old, twoDaysAgo, twoDaysAgo)
    const store = await FileStore.begin(root)
    expect(await store.putIfAbsent('a', bytes('1'))).toBe(true)
    expect(await readdir(join(root, '.staging'))).toEqual(['fresh'])
    expect(await pathsIn(store, '')).toEqual(['a'])
  })

  test('keeps each object as a plain file at its path', async () => {
    const root = await testFolder()
    const store = await FileStore.begin(root)
    await store.putIfAbsent('tables/recorded_date=2026-01-31/part.parquet', bytes('rows'))
    const path = store.localPath('tables/recorded_date=2026-01-31/part.parquet')
    expect(path).toBe(join(root, 'tables', 'recorded_date=2026-01-31', 'part.parquet'))
    expect(await readFile(path, 'utf8')).toBe('rows')
    expect(store.url).toBe(pathToFileURL(root).href)
  })

  test('gives the time of the file as the time of the object', async () => {
    const root = await testFolder()
    const store = await FileStore.begin(root)
    await store.put('a/b', bytes('1'))
    const then = new Date('2026-01-31T12:00:00.000Z')
    await utimes(store.localPath('a/b'), then, then)
    expect(await Array.fromAsync(store.list(''))).toEqual([{ path: 'a/b', sizeBytes: 1, modifiedAt: then }])
  })

  test('may share its directory with other stores', async () => {
    const root = await testFolder()
    const stores = await Promise.all(Array.from({ length: 8 }, () => FileStore.begin(root)))
    expect(stores.filter(({ isNew }) => isNew)).toHaveLength(1)
    const created = await Promise.all(
      stores.map((store, index) => store.putIfAbsent('a/b', bytes(`${index}`))),
    )
    expect(created.filter(Boolean)).toHaveLength(1)
    const winner = String(created.indexOf(true))
    for (const store of stores) expect(new TextDecoder().decode(await store.get('a/b'))).toBe(winner)
  })

  test('never shows a reader half an object while a put replaces it', { tags: ['slow'] }, async () => {
    const store = await FileStore.begin(await testFolder())
    const versions = ['x', 'y'].map((letter) => bytes(letter.repeat(256 * 1024)))
    await store.put('a', versions[0]!)
    let writing = true
    const writer = (async () => {
      for (let round = 0; round < 40; round++) await store.put('a', versions[round % 2]!)
      writing = false
    })()
    while (writing) {
      const seen = await store.get('a')
      expect(versions.some((version) => Buffer.compare(version, seen!) === 0)).toBe(true)
    }
    await writer
  })
})

describe('a store whose directory vanishes', () => {
  const GONE = {
    kind: 'unavailable',
    retryAfterS: 5,
    message: expect.stringMatching(/^the store is gone: /) as string,
  }
  const CALLS: Record<string, (store: FileStore) => Promise<unknown>> = {
    get: (store) => store.get('a/b'),
    range: (store) => store.range('a/b', 0, 1),
    list: (store) => Array.fromAsync(store.list('a/')),
    'list of everything': (store) => Array.fromAsync(store.list('')),
    putIfAbsent: (store) => store.putIfAbsent('a/c', bytes('2')),
    'put at the top': (store) => store.put('c', bytes('2')),
    delete: (store) => store.delete('a/b'),
  }

  /** What may stand where the directory was. Each returns what nobody may write to. */
  const VANISHED: Record<string, (root: string) => Promise<void>> = {
    nothing: () => Promise.resolve(),
    'an empty directory, as a mount point without its disk': (root) => mkdir(root),
    'another store': async (root) => {
      await FileStore.begin(root)
    },
    'a file': (root) => writeFile(root, ''),
  }

  describe.for(Object.entries(VANISHED))('and leaves %s', ([, leave]) => {
    test('is unavailable, nothing is written there, and works again when it is back', async () => {
      const root = join(await testFolder(), 'store')
      const store = await FileStore.begin(root)
      await store.put('a/b', bytes('1'))
      await rename(root, `${root}-away`)
      await leave(root)
      const left = await treeOf(root)
      for (const [name, call] of Object.entries(CALLS)) {
        await expect(call(store), name).rejects.toMatchObject(GONE)
        expect(await treeOf(root), name).toEqual(left)
      }
      await rm(root, { recursive: true, force: true })
      await rename(`${root}-away`, root)
      for (const call of Object.values(CALLS)) await call(store)
      expect(await pathsIn(store, '')).toEqual(['a/c', 'c'])
    })
  })

  test('and comes back while it is looked at has lost nothing', { tags: ['slow'] }, async () => {
    const root = join(await testFolder(), 'store')
    const store = await FileStore.begin(root)
    await store.put('a/b', bytes('1'))
    const looks = { get: async () => store.get('a/b'), list: async () => (await pathsIn(store, 'a/'))[0] }
    for (let turn = 0; turn < 300; turn++) {
      for (const [name, look] of Object.entries(looks)) {
        renameSync(root, `${root}-away`)
        const seen = look().catch((error: unknown) => error)
        // At another moment of the look each time.
        for (let moment = 0; moment < turn % 6; moment++) await nextTurn()
        renameSync(`${root}-away`, root)
        expect(await seen, `${name}, turn ${turn}`).toBeDefined()
      }
    }
  })

  test('and leaves an empty one while an object is written has not taken it', async () => {
    const root = join(await testFolder(), 'store')
    const store = await FileStore.begin(root)
    const file = join(await testFolder(), 'object')
    await writeFile(file, '1')
    const body = {
      sizeBytes: 1,
      sha256: '',
      get location() {
        // The store was there when the write began.
        renameSync(root, `${root}-away`)
        mkdirSync(join(root, '.staging'), { recursive: true })
        return file
      },
    }
    await expect(store.put('a', body)).rejects.toMatchObject(GONE)
  })

  test('and comes back as a copy, with other files of the same content, is the same store', async () => {
    const root = join(await testFolder(), 'store')
    const store = await FileStore.begin(root)
    await store.put('a/b', bytes('1'))
    await cp(root, `${root}-copy`, { recursive: true })
    await rm(root, { recursive: true })
    await expect(store.put('a/b', bytes('2'))).rejects.toMatchObject(GONE)
    await rename(`${root}-copy`, root)
    await store.put('a/c', bytes('2'))
    expect(await pathsIn(store, '')).toEqual(['a/b', 'a/c'])
  })

  test('and was made anew by hand is unavailable, even where the file system gives the same number again', async () => {
    const root = join(await testFolder(), 'store')
    const store = await FileStore.begin(root)
    await store.put('a', bytes('1'))
    await rm(root, { recursive: true })
    await mkdir(root)
    await expect(store.put('a', bytes('2'))).rejects.toMatchObject(GONE)
    await expect(store.get('a')).rejects.toMatchObject(GONE)
    expect(await readdir(root)).toEqual([])
  })

  test('and holds a store of its own in a folder: that is gone with it', async () => {
    const root = join(await testFolder(), 'store')
    await FileStore.begin(root)
    const inner = await FileStore.begin(join(root, 'sandbox'))
    await rm(root, { recursive: true })
    await mkdir(root)
    await expect(inner.put('a', bytes('1'))).rejects.toMatchObject(GONE)
    expect(await readdir(root)).toEqual([])
  })
})

/** Everything in a folder; undefined where there is none. */
async function treeOf(root: string): Promise<string[] | undefined> {
  return readdir(root, { recursive: true }).then(
    (names) => names.sort(),
    () => undefined,
  )
}

function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content)
}

async function pathsIn(store: FileStore, prefix: string): Promise<string[]> {
  return (await Array.fromAsync(store.list(prefix))).map(({ path }) => path)
}
