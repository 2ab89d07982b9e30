// The file of a day's snapshot, cut out of a shard, is what parsing the shard and writing its rows would
// give.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { snapshotFile } from '../../pipeline/release/snapshot-file.ts'
import { shardPath } from '../../pipeline/store/paths.ts'

const DATE = '2026-01-30'
const payload = fc.dictionary(
  fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('snapshot')),
  fc.jsonValue(),
)
const publication = fc.record({ payload, signature: fc.option(fc.string()) })
const shardOf = (kinds: fc.Arbitrary<Record<string, unknown>>) =>
  fc.record({
    entities: fc.dictionary(fc.uuid(), kinds, { minKeys: 1 }),
    entity_type: fc.constantFrom('agent', 'forecaster'),
    release: fc.nat(),
  })
const withRow = fc.record(
  { metrics: publication, snapshot: publication, verification: publication },
  { requiredKeys: ['snapshot'] },
)
const withoutRow = fc.record({ metrics: publication, verification: publication })

test('has the row of every entity, as the shard has it', { tags: ['slow'] }, () => {
  fc.assert(
    fc.property(shardOf(withRow), ({ entities, entity_type, release }) => {
      const path = shardPath('agent', Object.keys(entities)[0]!)
      const rows = Object.entries(entities).map(([entityId, { snapshot }]) => [entityId, snapshot])
      const expected = canonical({ date: DATE, entity_type, entities: Object.fromEntries(rows) })
      const file = snapshotFile({ path, bytes: canonical({ entities, entity_type, release }) }, DATE)
      expect(file).toEqual({ path, rows: rows.length, bytes: Buffer.from(expected) })
    }),
  )
})

test('is not there if the shard lacks the row of an entity', { tags: ['slow'] }, () => {
  fc.assert(
    fc.property(shardOf(fc.oneof(withRow, withoutRow)), (shard) => {
      const lacksOne = Object.values(shard.entities).some((kinds) => !('snapshot' in kinds))
      const path = shardPath('agent', Object.keys(shard.entities)[0]!)
      expect(snapshotFile({ path, bytes: canonical(shard) }, DATE) === undefined).toBe(lacksOne)
    }),
  )
})

test('is not made of other files', () => {
  expect(snapshotFile({ path: 'leaderboard/agent/00000.json', bytes: canonical({}) }, DATE)).toBeUndefined()
})

describe('a shard that is cut off', () => {
  const id = '00000000-0000-4000-8000-000000000001'
  const whole = canonical({ entities: { [id]: { snapshot: { payload: { name: '"\\' }, signature: null } } } })

  test.for(Array.from({ length: whole.length }, (_, length) => length))(
    'after %i bytes is corrupt',
    (length) => {
      const shard = { path: shardPath('agent', id), bytes: whole.subarray(0, length) }
      expect(() => snapshotFile(shard, DATE)).toThrow(expect.objectContaining({ kind: 'corrupt' }) as Error)
    },
  )
})
