import { mkdir, readFile, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { FileStore } from '../../pipeline/store/file.ts'
import { testFolder } from '../support/folder.ts'
import { storeContract } from '../support/store-contract.ts'

storeContract('a store in a directory', async () => new FileStore(await testFolder()))

storeContract(
  'a store in a directory that does not exist yet',
  async () => new FileStore(join(await testFolder(), 'yet', 'to', 'be', 'made')),
)

describe('a store in a directory', () => {
  test('lists its objects, but neither staged files nor those of others', async () => {
    const root = await testFolder()
    const store = new FileStore(root)
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
    const store = new FileStore(root)
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
    const store = new FileStore(root)
    expect(await store.putIfAbsent('a', bytes('1'))).toBe(true)
    expect(await readdir(join(root, '.staging'))).toEqual(['fresh'])
    expect(await pathsIn(store, '')).toEqual(['a'])
  })

  test('keeps each object as a plain file at its path', async () => {
    const root = await testFolder()
    const store = new FileStore(root)
    await store.putIfAbsent('tables/recorded_date=2026-01-31/part.parquet', bytes('rows'))
    const path = store.localPath('tables/recorded_date=2026-01-31/part.parquet')
    expect(path).toBe(join(root, 'tables', 'recorded_date=2026-01-31', 'part.parquet'))
    expect(await readFile(path, 'utf8')).toBe('rows')
    expect(store.url).toBe(pathToFileURL(root).href)
  })

  test('gives the time of the file as the time of the object', async () => {
    const root = await testFolder()
    const store = new FileStore(root)
    await store.put('a/b', bytes('1'))
    const then = new Date('2026-01-31T12:00:00.000Z')
    await utimes(store.localPath('a/b'), then, then)
    expect(await Array.fromAsync(store.list(''))).toEqual([{ path: 'a/b', sizeBytes: 1, modifiedAt: then }])
  })

  test('may share its directory with other stores', async () => {
    const root = await testFolder()
    const stores = Array.from({ length: 8 }, () => new FileStore(root))
    const created = await Promise.all(
      stores.map((store, index) => store.putIfAbsent('a/b', bytes(`${index}`))),
    )
    expect(created.filter(Boolean)).toHaveLength(1)
    const winner = String(created.indexOf(true))
    for (const store of stores) expect(new TextDecoder().decode(await store.get('a/b'))).toBe(winner)
  })

  test('never shows a reader half an object while a put replaces it', async () => {
    const store = new FileStore(await testFolder())
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

function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content)
}

async function pathsIn(store: FileStore, prefix: string): Promise<string[]> {
  return (await Array.fromAsync(store.list(prefix))).map(({ path }) => path)
}
