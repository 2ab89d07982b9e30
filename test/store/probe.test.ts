import { describe, expect, test } from 'vitest'
import { FileStore } from '../../pipeline/store/file.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { probeStore } from '../../pipeline/store/probe.ts'
import { FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { testFolder } from '../support/folder.ts'

describe('the probe passes', () => {
  test('a store in memory, leaves nothing in it, and returns the time by its clock', async () => {
    const then = new Date('2026-01-31T12:00:00.000Z')
    const store = new MemoryStore(() => then)
    expect(await probeStore(store, 'id')).toEqual(then)
    expect(store.objects.size).toBe(0)
  })

  test('a store in a directory, and leaves nothing in it', async () => {
    const store = await FileStore.begin(await testFolder())
    await probeStore(store, 'id')
    expect(await Array.fromAsync(store.list(''))).toEqual([])
  })

  test('twelve at once on one store, each under an id of its own', async () => {
    const store = new MemoryStore()
    await Promise.all(Array.from({ length: 12 }, (_, id) => probeStore(store, String(id))))
    expect(store.objects.size).toBe(0)
  })
})

describe('the probe refuses', () => {
  const refused = (message: RegExp) => ({
    kind: 'invalid',
    message: expect.stringMatching(message) as string,
  })

  test('a store that overwrites and says that it created', async () => {
    class Overwrites extends MemoryStore {
      override async putIfAbsent(path: string, content: Uint8Array): Promise<boolean> {
        await this.put(path, content)
        return true
      }
    }
    await expect(probeStore(new Overwrites(), 'id')).rejects.toMatchObject(
      refused(/^the store memory: accepts a second create of the same path/),
    )
  })

  test('a store that keeps the first object but tells every rival that it won', async () => {
    class TellsAllRivals extends MemoryStore {
      #calls = 0
      override async putIfAbsent(path: string, content: Uint8Array): Promise<boolean> {
        this.#calls += 1
        return (await super.putIfAbsent(path, content)) || this.#calls <= 4
      }
    }
    await expect(probeStore(new TellsAllRivals(), 'id')).rejects.toMatchObject(
      refused(/accepts 4 of 4 simultaneous creates of one path/),
    )
  })

  test('a store that overwrites but says that it did not', async () => {
    class OverwritesSilently extends MemoryStore {
      override async putIfAbsent(path: string, content: Uint8Array): Promise<boolean> {
        const created = !this.objects.has(path)
        await this.put(path, content)
        return created
      }
    }
    await expect(probeStore(new OverwritesSilently(), 'id')).rejects.toMatchObject(refused(/does not return/))
  })

  test('a store that loses what was written', async () => {
    class Loses extends MemoryStore {
      override async get(): Promise<undefined> {
        return undefined
      }
    }
    await expect(probeStore(new Loses(), 'id')).rejects.toMatchObject(refused(/does not return/))
  })

  test('a store that never creates', async () => {
    class NeverCreates extends MemoryStore {
      override async putIfAbsent(): Promise<boolean> {
        return false
      }
    }
    await expect(probeStore(new NeverCreates(), 'id')).rejects.toMatchObject(refused(/does not return/))
  })

  test('a store that does not list what it holds', async () => {
    class ListsNothing extends MemoryStore {
      override async *list(): AsyncGenerator<never> {
        yield* []
      }
    }
    await expect(probeStore(new ListsNothing(), 'id')).rejects.toMatchObject(refused(/does not return/))
  })

  test('a store that does not delete', async () => {
    class KeepsAll extends MemoryStore {
      override async delete(): Promise<void> {
        await Promise.resolve()
      }
    }
    await expect(probeStore(new KeepsAll(), 'id')).rejects.toMatchObject(refused(/after deleting it/))
  })
})

describe('the probe says that a store is unavailable', () => {
  test.for(FAULTS)('when the first write %s and nothing answers after it', async (fault) => {
    const store = new FaultStore(new MemoryStore(), { at: 1, fault, crash: true })
    await expect(probeStore(store, 'id')).rejects.toMatchObject({ kind: 'unavailable' })
  })
})
