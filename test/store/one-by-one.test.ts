import { cp, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { FileStore } from '../../pipeline/store/file.ts'
import type { OneByOne, Store } from '../../pipeline/store/store.ts'
import { testFolder } from '../support/folder.ts'
import { storeContract } from '../support/store-contract.ts'

/** A store whose thread has nothing left to do but to create objects in `a/`. */
async function begun(root: string): Promise<{ store: FileStore; inbox: OneByOne }> {
  const store = await FileStore.begin(root)
  await store.put('a/b', bytes('1'))
  const inbox = store.oneByOne()
  onTestFinished(() => inbox.close())
  return { store, inbox }
}

storeContract('a store in a directory that creates by a thread', async (): Promise<Store> => {
  const store = await FileStore.begin(await testFolder())
  const inbox = store.oneByOne()
  onTestFinished(() => inbox.close())
  return {
    url: store.url,
    get: (path) => store.get(path),
    range: (path, offset, length) => store.range(path, offset, length),
    list: (...asked) => store.list(...asked),
    putIfAbsent: (path, content) =>
      (content instanceof Uint8Array ? inbox : store).putIfAbsent(path, content as Uint8Array),
    put: (path, content) => store.put(path, content),
    delete: (path) => store.delete(path),
    localPath: (path) => store.localPath(path),
    mark: store.mark,
    oneByOne: () => inbox,
  }
})

describe('objects that a thread creates one by one', () => {
  test('leave nothing staged, also where they are there already', async () => {
    const root = await testFolder()
    const { store, inbox } = await begun(root)
    expect(await inbox.putIfAbsent('a/c', bytes('2'))).toBe(true)
    expect(await inbox.putIfAbsent('a/c', bytes('3'))).toBe(false)
    expect(await inbox.putIfAbsent('a/b', bytes('3'))).toBe(false)
    expect(await store.get('a/c')).toEqual(Buffer.from('2'))
    expect(await readdir(join(root, '.staging'))).toEqual([])
  })

  test('find their folder made again, and the one of staged files, if somebody removed them', async () => {
    const root = await testFolder()
    const { store, inbox } = await begun(root)
    for (const [path, folder] of [
      ['a/c', 'a'],
      ['a/d', '.staging'],
    ] as const) {
      await rm(join(root, folder), { recursive: true })
      expect(await inbox.putIfAbsent(path, bytes('2'))).toBe(true)
    }
    expect((await Array.fromAsync(store.list(''))).map(({ path }) => path)).toEqual(['a/c', 'a/d'])
  })

  test('are unavailable while the directory is away, and nothing is written in its place', async () => {
    const root = join(await testFolder(), 'store')
    const { inbox } = await begun(root)
    await inbox.putIfAbsent('a/c', bytes('2'))
    await rename(root, `${root}-away`)
    const gone = {
      kind: 'unavailable',
      message: expect.stringMatching(/^the store is gone: /) as string,
      retryAfterS: 5,
    }
    await expect(inbox.putIfAbsent('a/d', bytes('2'))).rejects.toMatchObject(gone)
    await mkdir(join(root, 'a'), { recursive: true })
    await mkdir(join(root, '.staging'))
    await expect(inbox.putIfAbsent('a/d', bytes('2'))).rejects.toMatchObject(gone)
    expect((await readdir(root, { recursive: true })).sort()).toEqual(['.staging', 'a'])
    await rm(root, { recursive: true })
    await cp(`${root}-away`, root, { recursive: true })
    expect(await inbox.putIfAbsent('a/d', bytes('2'))).toBe(true)
  })

  test.skipIf(!existsSync('/dev/shm'))('tell the code of a failure', async () => {
    const root = await testFolder()
    const { inbox } = await begun(root)
    const elsewhere = join('/dev/shm', `fvs-${process.pid}-staging`)
    await mkdir(elsewhere)
    onTestFinished(() => rm(elsewhere, { recursive: true }))
    await rm(join(root, '.staging'), { recursive: true })
    // A link cannot lead from one disk to another.
    await symlink(elsewhere, join(root, '.staging'))
    await expect(inbox.putIfAbsent('a/c', bytes('2'))).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'the store could not write a/c (EXDEV)',
      cause: { code: 'EXDEV' },
    })
    expect(await readdir(elsewhere)).toEqual([])
  })

  test('are unavailable if the thread ends, and the next one has another thread', async () => {
    const { inbox, store } = await begun(await testFolder())
    const asked = inbox.putIfAbsent('a/c', bytes('2'))
    inbox.close()
    await expect(asked).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await inbox.putIfAbsent('a/d', bytes('2'))).toBe(true)
    expect(await store.get('a/d')).toEqual(Buffer.from('2'))
  })
})

function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content)
}
