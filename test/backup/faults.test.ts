// A store that is copied while it works, and copies that are cut off at any write: each is a store that works,
// and the next run completes it.
// @module-tag slow
import { beforeAll, describe, expect, test } from 'vitest'
import { copyStore } from '../../pipeline/backup/copy.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { type Call, FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { contentOf, copyOf } from '../support/store-content.ts'
import { CopiedWorld } from '../support/worlds/copied-world.ts'

const folder = await suiteFolder()
const world = new CopiedWorld(folder)
/** The store after a day more, and a backup from before. */
let later: MemoryStore
let before: MemoryStore
beforeAll(async () => {
  await world.begin()
  before = new MemoryStore()
  await copy(world.store, before)
  later = copyOf(world.store)
  await world.work(later)
})

function copy(from: Store, to: Store, comparesAll = false) {
  const progress = () => undefined
  return copyStore({ from, to, directory: folder, deletes: !comparesAll, comparesAll, progress })
}

async function restored(backup: Store): Promise<MemoryStore> {
  const store = new MemoryStore()
  await copy(backup, store, true)
  return store
}

describe('a backup', () => {
  test('of a store that works at any moment of it has all that was acknowledged before', async () => {
    const calm = new FaultStore(copyOf(world.store))
    await copy(calm, new MemoryStore())
    // Once everything is listed, what the store does changes no more of the copy.
    const last = calm.calls.findLastIndex(({ operation, path }) => operation === 'list' && path === '')
    const kinds = calm.calls.slice(0, last + 2).map(kindOf)
    for (const [moment, kind] of kinds.entries()) {
      if (kinds.indexOf(kind) < moment) continue
      const inner = copyOf(world.store)
      let calls = 0
      const atWork = new FaultStore(inner, {
        before: async () => {
          if (calls++ === moment) await world.work(inner)
        },
      })
      const backup = new MemoryStore()
      await copy(atWork, backup)
      expect(await world.faultsOf(await restored(backup)), `at work before ${kind}`).toEqual([])
    }
  })

  test.for(FAULTS)('that %s at any write can be restored, and the next run completes it', async (fault) => {
    const whole = copyOf(before)
    await copy(later, whole)
    const clean = await contentOf(whole)
    expect(await contentOf(await restored(whole))).toEqual(clean)
    for (let at = 1; ; at++) {
      const backup = copyOf(before)
      const broken = new FaultStore(backup, { at, fault, crash: true })
      const isCut = await copy(later, broken).then(
        () => false,
        () => true,
      )
      if (isCut) expect(await world.faultsOf(await restored(backup)), `${fault} at ${at}`).toEqual([])
      await copy(later, backup)
      expect(await contentOf(backup), `${fault} at ${at}`).toEqual(clean)
      if (!isCut) break
    }
  })
})

test.for(FAULTS)('a restore that %s at any write is completed by the next', async (fault) => {
  const clean = await contentOf(await restored(before))
  for (let at = 1, isCut = true; isCut; at++) {
    const store = new MemoryStore()
    const broken = new FaultStore(store, { at, fault, crash: true })
    isCut = await copy(before, broken, true).then(
      () => false,
      () => true,
    )
    await copy(before, store, true)
    expect(await contentOf(store), `${fault} at ${at}`).toEqual(clean)
  }
})

/** The operation, and the first folder of the path. */
function kindOf({ operation, path }: Call): string {
  return `${operation} ${path.split('/')[0]}`
}
