// A release outlives the software that made it: what another method, another version and another secret make of it later.
import { beforeAll, describe, expect, test } from 'vitest'
import { runAudit } from '../../jobs/audit.ts'
import type { Components } from '../../jobs/components.ts'
import { releaseContext } from '../../jobs/release.ts'
import type { AuditReport } from '../../pipeline/release/audit.ts'
import { type ReleaseRequest, makeRelease } from '../../pipeline/release/make.ts'
import { METHODOLOGY, type Methodology } from '../../pipeline/scoring/methodology.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { snapshotPrefix } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, OTHER_SECRET, testComponents } from '../support/service.ts'
import { copyOf } from '../support/store-content.ts'
import { NOW, releaseWorld } from '../support/world.ts'

const TODAY = NOW.slice(0, 10)
/** Another method gives every skill another value. */
const OTHER_METHOD: Methodology = {
  ...METHODOLOGY,
  version: '1.1.0',
  parameters: { ...METHODOLOGY.parameters, shrinkage_questions: 40 },
}

const folder = await suiteFolder()
let released: MemoryStore

beforeAll(async () => {
  released = new MemoryStore()
  await releaseWorld(await testComponents({ store: released, folder, clock: new Clock(NOW) }))
})

/** The components of later software: another method, and a secret that has been changed since. */
async function later(store: Store, at = NOW): Promise<Components> {
  const settings = { VERIFICATION_SIGNING_SECRET: OTHER_SECRET }
  const components = await testComponents({ store, folder, clock: new Clock(at), settings })
  return { ...components, methodology: OTHER_METHOD }
}

const releaseLater = async (store: Store, at: string, request: ReleaseRequest = {}) =>
  makeRelease({ ...releaseContext(await later(store, at)), service: '2.0.0' }, request)

describe('a release that another method made', () => {
  test('is audited by its hashes, and is never said to differ', async () => {
    const components = { ...(await testComponents({ store: released, folder })), methodology: OTHER_METHOD }
    const { ok, json, text } = await runAudit(components, 1)
    expect(text).not.toMatch(/differ/i)
    expect({ ok, faults: (json as AuditReport).faults }).toEqual({ ok: true, faults: [] })
  })

  test.for([
    ['on the same day', NOW],
    ['on the next day', '2026-03-02T12:00:00.000Z'],
  ] as const)(
    'has a missing snapshot completed %s to the bytes that it would have written',
    async ([, at]) => {
      const store = copyOf(released)
      const snapshot = new Map([...store.objects].filter(([path]) => path.startsWith(snapshotPrefix(TODAY))))
      expect(snapshot.size).toBe(3)
      for (const path of snapshot.keys()) await store.delete(path)
      expect(await releaseLater(store, at)).toMatchObject({ made: true, release: 2 })
      for (const [path, bytes] of snapshot) expect(store.objects.get(path), path).toEqual(bytes)
    },
  )
})
