// The contract of every store (pipeline/store/store.ts), as a suite that runs over any of them.
import { rm, writeFile } from 'node:fs/promises'
import pMap from 'p-map'
import { describe, expect, test } from 'vitest'
import { type Store, type StoredObject, putExactly, putOnce } from '../../pipeline/store/store.ts'
import { localFile } from './local-file.ts'
import { MIB, WRONG_PATHS, bytes, ofSize, plain, readContract, text } from './read-contract.ts'

const RIVALS = 16
const CALLS_AT_ONCE = 16

/** `create` makes an empty store each time. The caller removes the stores. */
export function storeContract(name: string, create: () => Promise<Store>): void {
  describe(`the store contract, kept by ${name}`, () => {
    readContract(async (objects) => {
      const store = await create()
      for (const [path, content] of Object.entries(objects)) await store.put(path, content)
      return store
    })

    test('get is not affected when callers change their arrays', async () => {
      const store = await create()
      const mine = bytes('kept')
      await store.put('a', mine)
      mine.fill(0)
      const theirs = await store.get('a')
      theirs?.fill(0)
      const part = await store.range('a', 0, 2)
      part?.fill(0)
      expect(text(await store.get('a'))).toBe('kept')
    })

    test('putIfAbsent takes twenty megabytes', async () => {
      const store = await create()
      const big = ofSize(20 * MIB)
      expect(await store.putIfAbsent('big', big)).toBe(true)
      expect(Buffer.compare((await store.get('big'))!, big)).toBe(0)
    })

    describe('list', () => {
      test('finds nothing in an empty store or under an absent prefix', async () => {
        const store = await create()
        expect(await pathsIn(store, '')).toEqual([])
        await store.put('a/b', bytes('1'))
        expect(await pathsIn(store, 'b')).toEqual([])
        expect(await pathsIn(store, 'a/c/')).toEqual([])
        expect(await pathsIn(store, 'a/b/')).toEqual([])
      })

      test('gives sizes', async () => {
        const store = await create()
        await store.put('a', bytes(''))
        await store.put('b/c', bytes('123'))
        expect(await listed(store, '')).toMatchObject([
          { path: 'a', sizeBytes: 0 },
          { path: 'b/c', sizeBytes: 3 },
        ])
      })

      test('gives the time of the last write, which reading does not change', async () => {
        const store = await create()
        await store.put('a', bytes('1'))
        await store.putIfAbsent('b', bytes('2'))
        const [a, b] = await listed(store, '')
        expect(a!.modifiedAt.getTime()).toBeGreaterThanOrEqual(0)
        expect(b!.modifiedAt.getTime()).toBeGreaterThanOrEqual(a!.modifiedAt.getTime())
        await store.get('a')
        await store.putIfAbsent('a', bytes('refused'))
        expect(await listed(store, '')).toEqual([a, b])
        await store.put('a', bytes('3'))
        const [again] = await listed(store, 'a')
        expect(again!.modifiedAt.getTime()).toBeGreaterThanOrEqual(b!.modifiedAt.getTime())
      })

      // `-` and `.` sort before `/`, and letters after it, so a walk over folders must interleave files and
      // folders.
      const tricky = [
        'A',
        'a-b',
        'a.b/c',
        'a/b',
        'a/b-c/d',
        'a/b.c',
        'a/c/d/e/f',
        'a0',
        'a=1',
        'aB',
        'a_',
        'ab',
      ]

      test('orders paths by their bytes, files and folders alike', async () => {
        const store = await create()
        await pMap(tricky.toReversed(), (path) => store.put(path, bytes(path)))
        expect(await pathsIn(store, '')).toEqual(tricky)
      })

      test('accepts any beginning of a path as prefix, not only folders', async () => {
        const store = await create()
        await pMap(tricky, (path) => store.put(path, bytes(path)))
        for (const prefix of ['a', 'a/', 'a/b', 'a/b-', 'a/b-c', 'a/b-c/', 'a.', 'ab', 'a/c/d/e/f', 'A']) {
          expect(await pathsIn(store, prefix), prefix).toEqual(
            tricky.filter((path) => path.startsWith(prefix)),
          )
        }
      })

      test('goes on after any path, whether it exists or not', async () => {
        const store = await create()
        await pMap(tricky, (path) => store.put(path, bytes(path)))
        for (const after of [...tricky, 'a', 'a/a', 'a/b-c', 'a/b-c/e', 'a/c/d', 'a/zz', 'zz']) {
          expect(await pathsIn(store, '', after), after).toEqual(tricky.filter((path) => path > after))
        }
        expect(await pathsIn(store, 'a/', 'a/b-c/d')).toEqual(['a/b.c', 'a/c/d/e/f'])
        expect(await pathsIn(store, 'a/c/', 'a0')).toEqual([])
        expect(await pathsIn(store, 'a/c/', 'A')).toEqual(['a/c/d/e/f'])
      })

      test('leaves out what is not wanted, and asks about nothing else than what it would list', async () => {
        const store = await create()
        await pMap(tricky, (path) => store.put(path, bytes(path)))
        const asked: string[] = []
        const objects = store.list('a/', 'a/b-c/d', (path) => {
          asked.push(path)
          return path.endsWith('f')
        })
        expect((await Array.fromAsync(objects)).map(({ path }) => path)).toEqual(['a/c/d/e/f'])
        expect(asked).toEqual(['a/b.c', 'a/c/d/e/f'])
        expect(await Array.fromAsync(store.list('', '', () => false))).toEqual([])
      })

      test('does not end at a thousand objects', { tags: ['slow'] }, async () => {
        const store = await create()
        const many = Array.from({ length: 1_203 }, (_, index) => `many/${String(index).padStart(6, '0')}`)
        await pMap(many, (path) => store.put(path, bytes('1')), { concurrency: CALLS_AT_ONCE })
        await store.put('man', bytes('1'))
        await store.put('many-1', bytes('1'))
        expect(await pathsIn(store, 'many/')).toEqual(many)
        expect(await pathsIn(store, 'many/', many[99])).toEqual(many.slice(100))
      })

      test('may be stopped before its end', async () => {
        const store = await create()
        await pMap(tricky, (path) => store.put(path, bytes(path)))
        const seen: string[] = []
        for await (const { path } of store.list('')) {
          seen.push(path)
          if (seen.length === 2) break
        }
        expect(seen).toEqual(tricky.slice(0, 2))
      })
    })

    describe('putIfAbsent', () => {
      test('creates once, and then changes nothing', async () => {
        const store = await create()
        expect(await store.putIfAbsent('a/b', bytes('first'))).toBe(true)
        expect(await store.putIfAbsent('a/b', bytes('second'))).toBe(false)
        expect(await store.putIfAbsent('a/b', bytes('first'))).toBe(false)
        expect(text(await store.get('a/b'))).toBe('first')
      })

      test('refuses what a put created, and creates again what was deleted', async () => {
        const store = await create()
        await store.put('a', bytes('put'))
        expect(await store.putIfAbsent('a', bytes('second'))).toBe(false)
        await store.delete('a')
        expect(await store.putIfAbsent('a', bytes('third'))).toBe(true)
        expect(text(await store.get('a'))).toBe('third')
      })

      test(`lets one of ${RIVALS} rivals win, and keeps the winner's content`, async () => {
        const store = await create()
        for (const path of ['race/1', 'race/2', 'race/3']) {
          const rivals = Array.from({ length: RIVALS }, (_, rival) => bytes(`${path} rival ${rival}`))
          const created = await Promise.all(rivals.map((rival) => store.putIfAbsent(path, rival)))
          expect(created.filter(Boolean), path).toHaveLength(1)
          expect(plain(await store.get(path))).toEqual(rivals[created.indexOf(true)])
        }
        expect(await pathsIn(store, '')).toEqual(['race/1', 'race/2', 'race/3'])
      })

      test('creates many objects in a new folder at once', async () => {
        const store = await create()
        const many = Array.from(
          { length: RIVALS },
          (_, index) => `new/folder/${String(index).padStart(2, '0')}`,
        )
        const created = await Promise.all(many.map((path) => store.putIfAbsent(path, bytes(path))))
        expect(created.every(Boolean)).toBe(true)
        expect(await pathsIn(store, 'new/')).toEqual(many)
      })
    })

    describe('put and delete', () => {
      test('put replaces', async () => {
        const store = await create()
        await store.put('a', bytes('a longer first'))
        await store.put('a', bytes('second'))
        expect(text(await store.get('a'))).toBe('second')
        expect(await listed(store, '')).toMatchObject([{ path: 'a', sizeBytes: 6 }])
      })

      test('delete removes one object and no other', async () => {
        const store = await create()
        await pMap(['a/b', 'a/bc', 'a/c/d'], (path) => store.put(path, bytes(path)))
        await store.delete('a/b')
        expect(await store.get('a/b')).toBeUndefined()
        expect(await pathsIn(store, '')).toEqual(['a/bc', 'a/c/d'])
      })

      test('delete of an absent object, of a folder or beneath an object does nothing', async () => {
        const store = await create()
        await store.put('a/b', bytes('1'))
        for (const path of ['absent', 'absent/c', 'a', 'a/b/c']) await store.delete(path)
        expect(await pathsIn(store, '')).toEqual(['a/b'])
      })
    })

    describe('a file on this machine', () => {
      test.for([0, 5, 20 * MIB])('of %d bytes becomes an object', async (sizeBytes) => {
        const store = await create()
        const content = ofSize(sizeBytes)
        const file = await localFile(content)
        expect(await store.putIfAbsent('a/b', file)).toBe(true)
        await store.put('c', bytes('replaced'))
        await store.put('c', file)
        await writeFile(file.location, 'other')
        for (const path of ['a/b', 'c']) {
          expect(Buffer.compare((await store.get(path))!, content), path).toBe(0)
        }
        expect(await listed(store, '')).toMatchObject([
          { path: 'a/b', sizeBytes },
          { path: 'c', sizeBytes },
        ])
      })

      test('replaces nothing where the path is taken', { tags: ['slow'] }, async () => {
        const store = await create()
        await store.put('a', bytes('first'))
        expect(await store.putIfAbsent('a', await localFile(ofSize(20 * MIB)))).toBe(false)
        expect(text(await store.get('a'))).toBe('first')
      })

      test('that is not there leaves no object', async () => {
        const store = await create()
        const file = await localFile(bytes('1'))
        await rm(file.location)
        await expect(store.putIfAbsent('a', file)).rejects.toThrow('ENOENT')
        await expect(store.put('b', file)).rejects.toThrow('ENOENT')
        expect(await pathsIn(store, '')).toEqual([])
      })

      test.for([8 * MIB, 20 * MIB])(
        'of %d bytes is told from objects with other bytes',
        { tags: ['slow'] },
        async (sizeBytes) => {
          const store = await create()
          const content = ofSize(sizeBytes)
          const file = await localFile(content)
          expect(await putOnce(store, 'a', file)).toBe('created')
          expect(await putOnce(store, 'a', file)).toBe('same')
          await store.put(
            'a',
            content.map((byte, at) => (at === sizeBytes - 1 ? byte ^ 1 : byte)),
          )
          expect(await putOnce(store, 'a', file)).toBe('different')
          for (const other of [content.subarray(1), Buffer.concat([content, content]), bytes('')]) {
            await store.put('a', other)
            expect(await putOnce(store, 'a', file)).toBe('different')
          }
        },
      )
    })

    describe('paths', () => {
      test.for(WRONG_PATHS)('%j is refused: %s', async ([path]) => {
        const store = await create()
        await store.put('x', bytes('x'))
        const refused = { kind: 'invalid' }
        await expect(store.put(path, bytes('1'))).rejects.toMatchObject(refused)
        await expect(store.putIfAbsent(path, bytes('1'))).rejects.toMatchObject(refused)
        await expect(store.delete(path)).rejects.toMatchObject(refused)
        if (store.localPath('x') !== undefined)
          expect(() => store.localPath(path)).toThrow(expect.objectContaining(refused))
        expect(await pathsIn(store, '')).toEqual(['x'])
      })

      test.for(WRONG_PATHS.filter(([path]) => path !== '' && path !== 'a/'))(
        '%j is refused as prefix: %s',
        async ([path]) => {
          const store = await create()
          await expect(pathsIn(store, path)).rejects.toMatchObject({ kind: 'invalid' })
        },
      )
    })

    describe('putOnce and putExactly', () => {
      test('distinguish a create, a repetition and a contradiction', async () => {
        const store = await create()
        expect(await putOnce(store, 'a', bytes('1'))).toBe('created')
        expect(await putOnce(store, 'a', bytes('1'))).toBe('same')
        expect(await putOnce(store, 'a', bytes('2'))).toBe('different')
        await putExactly(store, 'a', bytes('1'))
        await putExactly(store, 'b', bytes('1'))
        await expect(putExactly(store, 'a', bytes('2'))).rejects.toMatchObject({ kind: 'corrupt' })
        expect(text(await store.get('a'))).toBe('1')
      })
    })
  })
}

async function listed(store: Store, prefix: string, after?: string): Promise<StoredObject[]> {
  return Array.fromAsync(store.list(prefix, after))
}

async function pathsIn(store: Store, prefix: string, after?: string): Promise<string[]> {
  return (await listed(store, prefix, after)).map(({ path }) => path)
}
