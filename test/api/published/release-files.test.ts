// What a node holds of the files of releases, and what it reads of the next release before it goes over.
import { describe, expect, test } from 'vitest'
import { type Form, ReleaseFiles } from '../../../api/published/release-files.ts'
import { WorkBeside } from '../../../api/published/work-beside.ts'
import { canonical, sha256Hex } from '../../../pipeline/proof/canonical.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { releasePrefix } from '../../../pipeline/store/paths.ts'
import type { ReleaseManifest } from '../../../schemas/manifests.ts'

const monotonicMs = () => performance.now()

/** A store of releases with files of JSON, each of which says where it is. */
function world({ budgetBytes = 1_000_000, releases = 2, paths = ['a.json', 'b.json'] } = {}) {
  const store = new MemoryStore()
  const manifests = Array.from({ length: releases }, (_, index) => {
    const release = index + 1
    const files = paths.map((path) => {
      const bytes = canonical({ at: `${release} ${path}` })
      store.objects.set(releasePrefix(release) + path, bytes)
      return { path, rows: 1, size_bytes: bytes.length, sha256: sha256Hex(bytes) }
    })
    return { release, files } as unknown as ReleaseManifest
  })
  const reads: string[] = []
  const watched = Object.assign(Object.create(store) as MemoryStore, {
    get: (path: string) => {
      reads.push(path)
      return store.get(path)
    },
  })
  const files = new ReleaseFiles({ store: watched, monotonicMs }, budgetBytes)
  const read = () => reads.splice(0).map((path) => path.replace('releases/0000000', ''))
  return { store, files, first: manifests[0]!, second: manifests[1]!, read }
}

describe('a file', () => {
  test('is read once for all who ask, also at the same time', async () => {
    const { files, first, read } = world()
    const asked = Array.from({ length: 3 }, () => files.parsed(first, 'a.json'))
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 3 }, () => ({ at: '1 a.json' })))
    expect(await files.parsed(first, 'a.json')).toEqual({ at: '1 a.json' })
    expect(read()).toEqual(['1/a.json'])
  })

  test('that the release does not have is undefined', async () => {
    const { files, first, read } = world()
    expect(await files.parsed(first, 'c.json')).toBeUndefined()
    expect(read()).toEqual([])
  })

  test('leaves for another when the memory is used up, and is read again', async () => {
    const { files, first, read } = world({ budgetBytes: 100 })
    for (const path of ['a.json', 'b.json', 'a.json']) await files.parsed(first, path)
    expect(read()).toEqual(['1/a.json', '1/b.json', '1/a.json'])
  })

  test('that is larger than all memory still reaches who asks', async () => {
    const { files, first } = world({ budgetBytes: 1 })
    expect(await files.parsed(first, 'a.json')).toEqual({ at: '1 a.json' })
  })

  test('that could not be read is read again', async () => {
    const { store, files, first } = world()
    const path = `${releasePrefix(1)}a.json`
    const bytes = store.objects.get(path)!
    store.objects.set(path, bytes.toReversed())
    await expect(files.parsed(first, 'a.json')).rejects.toMatchObject({ kind: 'corrupt' })
    store.objects.set(path, bytes)
    expect(await files.parsed(first, 'a.json')).toEqual({ at: '1 a.json' })
  })
})

describe('before a node goes over to the next release', () => {
  const endless = () => new WorkBeside(monotonicMs, Infinity)

  test('it reads there whatever it holds of the one before, the latest first', async () => {
    const { files, first, second, read } = world()
    await files.parsed(first, 'a.json')
    await files.made(first, 'sum', async (its) => {
      const found = await files.parsed<{ at: string }>(its, 'b.json')
      return { value: { sum: found!.at.length }, sizeBytes: 8 }
    })
    read()
    await files.warm(first, second, endless())
    expect(read()).toEqual(['2/b.json', '2/a.json'])
    const unread = () => Promise.reject(new Error('made again'))
    expect(await files.made(second, 'sum', unread)).toEqual({ sum: 8 })
    expect(await files.parsed(second, 'a.json')).toEqual({ at: '2 a.json' })
    expect(read()).toEqual([])
  })

  test('it leaves a form for those who ask for it that is not to be warmed', async () => {
    const { files, first, second } = world()
    const opened: number[] = []
    const form: Form<object> = {
      name: 'dear',
      isWarmed: false,
      open: (_reading, { release }) => {
        opened.push(release)
        return Promise.resolve({ value: {}, sizeBytes: 1 })
      },
    }
    await files.opened(first, 'a.json', form)
    await files.warm(first, second, endless())
    expect(opened).toEqual([1])
    expect(files.openedAtHand(second, 'a.json', form)).toBeUndefined()
    expect(files.openedAtHand(first, 'a.json', form)).toBeDefined()
  })

  test('a file that cannot be read keeps none of the others back', async () => {
    const { store, files, first, second, read } = world()
    for (const path of ['a.json', 'b.json']) await files.parsed(first, path)
    store.objects.delete(`${releasePrefix(2)}b.json`)
    read()
    await files.warm(first, second, endless())
    expect(read()).toContain('2/a.json')
    await expect(files.parsed(second, 'b.json')).rejects.toMatchObject({ kind: 'corrupt' })
  })

  test('it reads nothing once the time is over', async () => {
    const { files, first, second, read } = world()
    await files.parsed(first, 'a.json')
    read()
    await files.warm(first, second, new WorkBeside(monotonicMs, 0))
    expect(read()).toEqual([])
  })
})
