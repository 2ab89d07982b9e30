// An import of a platform's files that is cut off at any of its writes.
// @module-tag slow
import { expect, test } from 'vitest'
import { runImportFrom } from '../../jobs/import/import-from.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, testComponents } from '../support/http/service.ts'
import { filesOf, rowsOf, sourceOf } from '../support/worlds/source-cases.ts'

const folder = await suiteFolder()
const clock = new Clock('2026-11-26T12:00:00.000Z')

test('cut off at any write, it is completed by the same command again', async () => {
  const paths = await filesOf('polymarket')
  const whole = new FaultStore(new MemoryStore())
  await runImportFrom(await testComponents({ store: whole, clock, folder }), sourceOf('polymarket'), paths)
  const expected = await rowsOf(await testComponents({ store: whole, clock, folder }))
  for (const fault of FAULTS) {
    for (let at = 1; at <= whole.writes; at++) {
      const store = new MemoryStore()
      const cut = new FaultStore(store, { at, fault, crash: true })
      await runImportFrom(
        await testComponents({ store: cut, clock, folder }),
        sourceOf('polymarket'),
        paths,
      ).catch(() => undefined)
      const components = await testComponents({ store, clock, folder })
      await runImportFrom(components, sourceOf('polymarket'), paths)
      expect(await rowsOf(components), `${fault} at ${at}`).toBe(expected)
    }
  }
})
