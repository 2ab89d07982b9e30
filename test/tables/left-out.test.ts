// The rows that are left out: what a list of undone imports and erased people leaves of a table, and that
// another list brings everything else back.
import { describe, expect, test } from 'vitest'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { DataFile, TableVersion } from '../../pipeline/tables/delta.ts'
import {
  counts,
  erasedPeople,
  everSaid,
  readLeftOut,
  undoneImports,
  undoneIn,
  without,
} from '../../pipeline/tables/left-out.ts'
import type { ErasedPerson, UndoneImport } from '../../schemas/manifests.ts'
import { uuidOf } from '../support/worlds/world.ts'

const AT = '2026-03-01T12:00:00.000Z'
const undone = (version: number): UndoneImport => ({
  table: 'forecasts',
  version,
  rows: 1,
  recorded_at: AT,
  undone_at: AT,
  reason: 'a test',
})
const erased = (n: number): ErasedPerson => ({ user_id: uuidOf(3, n), erased_at: AT, reason: 'a test' })

/** Each version has added a file of its own. */
const files = [1, 2, 3].map((version) => ({ version, path: `file-${version}` }) as DataFile)
const table: TableVersion = { table: 'forecasts', version: 3, files }
const versionsIn = (of: readonly DataFile[]) => of.map(({ version }) => version)

describe('a table', () => {
  test('lacks the files of an undone import, and names them', () => {
    const left = without(table, { undone_imports: [undone(2)] })
    expect(versionsIn(left.files)).toEqual([1, 3])
    expect(undoneIn(left)).toMatchObject([{ by: undone(2), files: [{ version: 2 }] }])
    expect(everSaid(left)).toMatchObject(files)
  })

  test('has back what another list left out of it', () => {
    const left = without(table, { undone_imports: [undone(2)], erased_people: [erased(0)] })
    const whole = without(left, {})
    expect(whole).toMatchObject({ ...table, undone: undefined, erased: undefined })
    const other = without(left, { undone_imports: [undone(3)] })
    expect(versionsIn(other.files)).toEqual([1, 2])
    expect(undoneIn(other)).toMatchObject([{ by: undone(3), files: [{ version: 3 }] }])
  })

  test('is whole where imports of other tables are undone', () => {
    expect(without({ ...table, table: 'questions' }, { undone_imports: [undone(2)] }).files).toEqual(files)
  })

  test('has rows of erased people only if it is of people', () => {
    const people = { erased_people: [erased(0), erased(1)] }
    expect(counts(without(table, people))).toBe(
      `NOT (entity_type = 'forecaster' AND entity_id IN ('${uuidOf(3, 0)}', '${uuidOf(3, 1)}'))`,
    )
    expect(counts(without({ ...table, table: 'questions' }, people))).toBe('true')
    expect(counts(without(table, {}))).toBe('true')
  })
})

test('the records say what is left out, in the order of their ids, and the first of each stays', async () => {
  const store = new MemoryStore()
  expect(await readLeftOut(store)).toEqual({ undone_imports: undefined, erased_people: undefined })
  for (const version of [3, 2]) await undoneImports(store).create(undone(version), undone(version))
  for (const n of [1, 0]) await erasedPeople(store).create(erased(n).user_id, erased(n))
  expect(await erasedPeople(store).create(erased(0).user_id, { ...erased(0), reason: 'another' })).toBe(false)
  expect(await readLeftOut(store)).toEqual({
    undone_imports: [undone(2), undone(3)],
    erased_people: [erased(0), erased(1)],
  })
})
