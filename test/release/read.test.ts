// Which file of a manifest would hold an entity.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { shardFile } from '../../pipeline/release/read.ts'
import { shardPath, shardStart } from '../../pipeline/store/paths.ts'
import { ENTITY_TYPES } from '../../schemas/tables.ts'
import { uuidOf } from '../support/worlds/world.ts'

const entry = (path: string) => ({ path, rows: 1, size_bytes: 1, sha256: '' })
const ids = fc.uniqueArray(fc.nat(200), { maxLength: 12 })
const manifest = fc
  .record({
    agent: ids,
    forecaster: ids,
    others: fc.subarray([
      'entities/000.parquet',
      'scores/000.parquet',
      'row-groups/000.json',
      'scores/001.parquet',
    ]),
  })
  .map((starts) => [
    ...ENTITY_TYPES.flatMap((type) =>
      starts[type].toSorted((a, b) => a - b).map((number) => entry(shardPath(type, uuidOf(2, number)))),
    ),
    ...starts.others.map(entry),
  ])

describe('the shard of an entity', () => {
  test('is the last of its kind that starts at or before it, whatever else the manifest names', () => {
    fc.assert(
      fc.property(manifest, fc.constantFrom(...ENTITY_TYPES), fc.nat(200), (files, type, number) => {
        const scanned = files.findLast(({ path }) => {
          const start = shardStart(path, type)
          return start !== undefined && start <= uuidOf(2, number)
        })
        expect(shardFile(files, type, uuidOf(2, number))).toBe(scanned)
      }),
    )
  })

  test(
    'is found in a manifest of 100,000 files, which are looked through once for each kind',
    { tags: ['slow'] },
    () => {
      let looks = 0
      const files = Array.from({ length: 100_000 }, (_, number) => ({
        ...entry(''),
        get path() {
          looks += 1
          return shardPath('forecaster', uuidOf(2, 2 * number))
        },
      }))
      expect(shardFile(files, 'forecaster', uuidOf(2, 77_777))).toBe(files[38_888])
      const first = looks
      expect(first).toBeLessThanOrEqual(2 * files.length)
      expect(shardFile(files, 'forecaster', uuidOf(2, 155_554))).toBe(files[77_777])
      expect(looks).toBe(first)
    },
  )
})
