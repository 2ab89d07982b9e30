// A release counts each forecast once, even after calls that were taken over, and sweeps expired claims.
import { describe, expect, test } from 'vitest'
import { runRelease } from '../../jobs/release/release.ts'
import { Idempotency, sweepPart } from '../../pipeline/access/idempotency.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { CLAIMS_PREFIX } from '../../pipeline/store/paths.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { HOUR_MS, REQUEST, forecast, newNode, outcome, passMs } from '../support/http/idempotent-calls.ts'
import { Clock, importRows, release, testComponents } from '../support/http/service.ts'
import { uuidOf } from '../support/worlds/world.ts'
import { send } from '../support/tables.ts'

const OPENED = '2026-01-01T00:00:00.000Z'
const CLOSES = '2026-02-01T00:00:00.000Z'

describe('a release', () => {
  test(
    'counts an agent and a forecast once even if their calls were committed twice',
    { tags: ['slow'] },
    async () => {
      const published: unknown[] = []
      for (const fault of ['failed', 'failed but persisted'] as const) {
        const clock = new Clock('2026-01-11T00:00:00.000Z')
        const store = new MemoryStore()
        const components = await testComponents({ store, clock })
        const question_id = uuidOf(1, 1)
        await importRows(
          components,
          'questions',
          `question_id,title,opened_at,closes_at\n${question_id},a,${OPENED},${CLOSES}\n`,
        )
        // The first write is the claim, the next two are the rows of both tables: the commit breaks off at the
        // second row.
        const broken = new FaultStore(store, { at: 3, fault })
        let ids = 0
        const call = (over: FaultStore | MemoryStore) =>
          new Idempotency({
            store: over,
            newId: () => uuidOf(3, 1),
            now: clock.now,
            randomBytes: (size) => new Uint8Array(size),
            leaseMs: 1000,
          }).run(REQUEST, {
            check: () => Promise.resolve(),
            answer: ({ id }) => id,
            commit: async ({ id, at }) => {
              const agent = {
                agent_id: id,
                name: 'a',
                model_type: 'b',
                organization_name: null,
                owner_id: null,
                registered_at: at,
                retired_at: null,
                recorded_at: at,
              }
              const row = {
                forecast_id: id,
                entity_type: 'agent',
                entity_id: id,
                question_id,
                probability: 0.7,
                forecast_at: at,
                recorded_at: at,
                source: 'api',
              }
              await send(over, 'agents', uuidOf(4, ++ids), [agent])
              await send(over, 'forecasts', uuidOf(4, ids), [row])
            },
          })
        await expect(call(broken)).rejects.toMatchObject({ kind: 'unavailable' })
        await call(store)
        clock.set('2026-02-02T00:00:00.000Z')
        await importRows(
          components,
          'resolutions',
          `question_id,outcome,resolved_at\n${question_id},yes,${CLOSES}\n`,
        )
        expect(await release(components)).toMatchObject({ made: true, entities: 1, pairs: 1 })
        const manifest = await readManifest(store, 1)
        const shards = manifest!.files.filter(({ path }) => path.startsWith('agent/'))
        published.push(shards.map(({ path, rows, sha256 }) => ({ path, rows, sha256 })))
      }
      expect(published[0]).toMatchObject([{ path: `agent/${uuidOf(3, 1)}.json`, rows: 1 }])
      // The bytes are the same with one row or two under the forecast's id.
      expect(published[1]).toEqual(published[0])
    },
  )

  test(
    'sweeps expired claims, even without anything to release, and does not fail if it cannot',
    { tags: ['slow'] },
    async () => {
      const clock = new Clock('2026-03-01T12:00:00.000Z')
      const inner = new MemoryStore(clock.now)
      const store = new FaultStore(inner, {
        before: ({ operation, path }) => {
          if (operation === 'delete' && unreachable && path.startsWith(CLAIMS_PREFIX)) throw new Error('gone')
        },
      })
      let unreachable = true
      const components = await testComponents({ store, clock })
      const claims = async () => (await Array.fromAsync(inner.list(CLAIMS_PREFIX))).length
      await outcome(
        newNode(inner, clock, 1000).run(REQUEST, { ...forecast(inner), commit: async () => undefined }),
      )
      await runRelease(components, {})
      expect(await claims()).toBe(1)
      passMs(clock, 48 * HOUR_MS + 1)
      const [claim] = await Array.fromAsync(inner.list(CLAIMS_PREFIX))
      const part = Number.parseInt(claim!.path.charAt(CLAIMS_PREFIX.length), 16)
      while (sweepPart(clock.now()) !== part) passMs(clock, HOUR_MS)
      expect(await runRelease(components, {})).toMatchObject({ ok: true, json: { made: true } })
      expect(await claims()).toBe(1)
      unreachable = false
      expect(await runRelease(components, { ifChanged: true })).toMatchObject({
        ok: true,
        json: { made: false, reason: 'unchanged' },
      })
      expect(await claims()).toBe(0)
    },
  )
})
