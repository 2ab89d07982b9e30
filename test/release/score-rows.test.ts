// Rows of one entity from the scores: the same as DuckDB reads them from the same files, in few reads, and
// never from damaged bytes.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { parquet, withDatabase } from '../../pipeline/duckdb.ts'
import { SCORES_ROW_GROUP } from '../../pipeline/engine/scores-file.ts'
import { deriveRelease } from '../../pipeline/release/derive.ts'
import { noteThinned } from '../../pipeline/release/read.ts'
import { type OpenPart, type ScoreRow, openPart, readRows } from '../../pipeline/release/score-rows.ts'
import { bodyOf, entryOf } from '../../pipeline/release/output.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { releasePrefix } from '../../pipeline/store/paths.ts'
import { rowGroupsPath, scoresFile } from '../../pipeline/release/row-groups.ts'
import { currentVersions } from '../../pipeline/tables/delta-log.ts'
import type { ManifestFile } from '../../schemas/manifests.ts'
import type { RowGroupsFile } from '../../schemas/payloads.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { expectValid } from '../support/json-schema.ts'
import { Clock, importRows, testComponents } from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'
import { NOW, csvOf, uuidOf } from '../support/worlds/world.ts'
import { runs } from '../support/runs.ts'

const RELEASE = 1
/**
 * The questions that each forecaster is scored on. The second and third lie in two row groups, and the last
 * two begin with a part.
 */
const QUESTIONS = 12_000
const PAIRS = [1, QUESTIONS, 9_500, ...Array.from({ length: 253 }, () => 2), 3, 1]
const EDGE = 256
const idOf = (index: number) => uuidOf(2, index)

const folder = await suiteFolder()
const store = new MemoryStore()
let files: ManifestFile[]
/** By DuckDB, newest first. */
const expected = new Map<string, Record<string, unknown>[]>()

beforeAll(async () => {
  const components = await testComponents({ store, folder, clock: new Clock(NOW) })
  const numbers = Array.from({ length: QUESTIONS }, (_, number) => number)
  // Many are settled at the same instant, so that the order by id matters too.
  const resolvedAt = (number: number) =>
    new Date(Date.UTC(2026, 0, 20) + (number % 997) * 60_000).toISOString()
  await importRows(
    components,
    'questions',
    ['question_id,title,opened_at,closes_at']
      .concat(
        numbers.map((number) => `${uuidOf(1, number)},Q${number},2026-01-01T00:00:00Z,${resolvedAt(number)}`),
      )
      .join('\n'),
  )
  await importRows(
    components,
    'resolutions',
    ['question_id,outcome,resolved_at']
      .concat(
        numbers.map((number) => `${uuidOf(1, number)},${number % 3 ? 'no' : 'yes'},${resolvedAt(number)}`),
      )
      .join('\n'),
  )
  const lines = PAIRS.flatMap((pairs, who) =>
    numbers
      .slice(0, pairs)
      .map(
        (number) =>
          `forecaster,${idOf(who)},${uuidOf(1, number)},${((7 * number + who) % 101) / 100},2026-01-10T00:00:00Z`,
      ),
  )
  await importRows(components, 'forecasts', csvOf(lines))
  await withDatabase(components.openDatabase, async (database) => {
    const versions = await currentVersions(store)
    const inputs = { release: RELEASE, asOf: components.now(), environment: 'production', versions } as const
    await using derived = await deriveRelease(
      { ...components, database },
      { ...inputs, previous: undefined, bringsSnapshot: false },
      { pairs: 100, entities: 1000 },
    )
    files = []
    for await (const file of derived.files(() => null)) {
      await store.put(releasePrefix(RELEASE) + file.path, bodyOf(file))
      files.push(entryOf(file))
    }
    const parts = files.filter(({ path }) => path.startsWith('scores/'))
    const local = await Promise.all(
      parts.map(async ({ path }) => {
        const file = join(folder, path.replace('/', '-'))
        await writeFile(file, store.objects.get(releasePrefix(RELEASE) + path)!)
        return file
      }),
    )
    const rows = await database.rows<Record<string, unknown> & { entity_id: string }>(
      `SELECT * EXCLUDE (release, as_of, entity_type) FROM ${parquet(local)} ORDER BY entity_id, settled_at DESC, question_id DESC`,
    )
    for (const { entity_id, ...columns } of rows) {
      const row = Object.fromEntries(
        Object.entries(columns).map(([name, value]) => [
          name,
          typeof value === 'bigint' ? Number(value) : value,
        ]),
      )
      const own = expected.get(entity_id)
      if (own) own.push(row)
      else expected.set(entity_id, [row])
    }
  })
})

const partOf = (entityId: string) => scoresFile(files, 'forecaster', entityId)!
const open = (entityId: string, from = store): Promise<OpenPart> =>
  openPart(from, RELEASE, files, partOf(entityId))

async function pagesOf(part: OpenPart, entityId: string, limit: number): Promise<ScoreRow[][]> {
  const pages: ScoreRow[][] = []
  let end: number | undefined
  do {
    const { rows, next } = await readRows(store, part, { entityId, limit, end })
    pages.push(rows)
    end = next
  } while (end !== undefined)
  return pages
}

describe('the rows of an entity', () => {
  test(
    'are those that DuckDB reads, of every entity and column, newest first',
    { tags: ['slow'] },
    async () => {
      expect(expected.size).toBe(PAIRS.length)
      const parts = files.filter(({ path }) => path.startsWith('scores/'))
      expect(parts.map(({ rows }) => rows)).toEqual([22_007, 4])
      for (const [index, pairs] of PAIRS.entries()) {
        const part = await open(idOf(index))
        const rows = (await pagesOf(part, idOf(index), 1000)).flat()
        expect(rows).toHaveLength(pairs)
        expect(rows, idOf(index)).toEqual(expected.get(idOf(index)))
      }
    },
  )

  test.for([1, 2, 3, 999, 1000])(
    'come in pages of %i, and the last one says so',
    { tags: ['slow'] },
    async (limit) => {
      for (const index of [0, 1, 3, EDGE - 1, EDGE, EDGE + 1]) {
        if (limit < 900 && PAIRS[index]! > 100) continue
        const pages = await pagesOf(await open(idOf(index)), idOf(index), limit)
        expect(pages.map(({ length }) => length)).toEqual(
          Array.from({ length: Math.ceil(PAIRS[index]! / limit) }, (_, page) =>
            Math.min(limit, PAIRS[index]! - page * limit),
          ),
        )
        expect(pages.flat()).toEqual(expected.get(idOf(index)))
      }
    },
  )

  test(
    'from any place are those before it, or none where it is not the entity’s',
    { tags: ['slow'] },
    async () => {
      const part = await open(idOf(2))
      const [before, own] = [PAIRS[0]! + PAIRS[1]!, PAIRS[2]!]
      const place = fc.integer({ min: 0, max: 30_000 })
      const check = async (end: number, limit: number) => {
        const { rows, next } = await readRows(store, part, { entityId: idOf(2), limit, end })
        const isOwn = end > before && end <= before + own
        const from = before + own - end
        expect(rows).toEqual(isOwn ? expected.get(idOf(2))!.slice(from, from + limit) : [])
        expect(next).toBe(isOwn && end - limit > before ? end - limit : undefined)
      }
      for (const edge of [
        0,
        before,
        before + 1,
        2 * SCORES_ROW_GROUP,
        before + own,
        before + own + 1,
        22_007,
      ]) {
        for (const around of [-1, 0, 1]) await check(Math.max(0, edge + around), 1000)
      }
      await fc.assert(fc.asyncProperty(place, fc.integer({ min: 1, max: 1000 }), check), {
        numRuns: runs(20),
      })
    },
  )

  test('are none for an entity without a scored question, wherever its id would stand', async () => {
    for (const id of [
      uuidOf(0, 1),
      `${idOf(1).slice(0, -1)}0`,
      idOf(EDGE - 1).replace(/.$/, 'g'),
      uuidOf(9, 9),
    ]) {
      const file = scoresFile(files, 'forecaster', id)
      if (!file || expected.has(id)) continue
      const part = await openPart(store, RELEASE, files, file)
      expect(await readRows(store, part, { entityId: id, limit: 10 })).toEqual({ rows: [], next: undefined })
    }
    expect(scoresFile(files, 'forecaster', uuidOf(0, 1))).toBeUndefined()
    expect(scoresFile(files, 'agent', idOf(1))).toBeUndefined()
  })

  test('are the same once other row groups were decoded in between', { tags: ['slow'] }, async () => {
    const part = await open(idOf(1))
    const request = { entityId: idOf(1), limit: 20 }
    const rows = expected.get(idOf(1))!.slice(0, 20)
    for (let others = 0; others < 6; others++) {
      const file = { ...part.file, sha256: `another ${others}` }
      expect((await readRows(store, { ...part, file }, { ...request, end: 101 })).rows).toHaveLength(20)
      expect((await readRows(store, part, request)).rows).toEqual(rows)
    }
    for (let others = 0; others < 12; others++) {
      const file = { ...part.file, sha256: `one more ${others}` }
      expect((await readRows(store, { ...part, file }, request)).rows).toEqual(rows)
    }
    expect((await readRows(store, part, request)).rows).toEqual(rows)
  })
})

describe('reads', () => {
  test.for([0, 1, 2, 3, EDGE])('of forecaster %i are three at first, and then one', async (index) => {
    const counted = new FaultStore(store)
    const part = await openPart(counted, RELEASE, files, partOf(idOf(index)))
    expect(counted.calls.map(({ operation, path }) => `${operation} ${path}`)).toEqual([
      `get ${releasePrefix(RELEASE)}${rowGroupsPath(part.file.path)}`,
      `range ${releasePrefix(RELEASE)}${part.file.path}`,
    ])
    for (const limit of [1, 1000]) {
      counted.calls.length = 0
      await readRows(counted, part, { entityId: idOf(index), limit })
      expect(counted.calls).toEqual([{ operation: 'range', path: releasePrefix(RELEASE) + part.file.path }])
    }
  })

  test('are of the row groups of the page alone', async () => {
    const part = await open(idOf(1))
    expect(part.groups.map(({ firstRow, endRow }) => endRow - firstRow)).toEqual([10_240, 10_240, 1_527])
    const sizes = part.groups.map(({ piece }) => piece.size_bytes)
    const read = async (limit: number, end?: number) => {
      let bytes = 0
      const counting = Object.create(store, {
        range: {
          value: async (path: string, offset: number, length: number) => {
            bytes += length
            return store.range(path, offset, length)
          },
        },
      }) as MemoryStore
      await readRows(counting, part, { entityId: idOf(1), limit, end })
      return bytes
    }
    // The entity has rows 1 to 12,000: the newest 1,761 are in the second row group.
    expect(await read(1000)).toBe(sizes[0]! + sizes[1]!)
    expect(await read(1000, 12_001)).toBe(sizes[1])
    expect(await read(1000, 11_001)).toBe(sizes[0]! + sizes[1]!)
    expect(await read(1000, 10_240)).toBe(sizes[0])
    expect(await read(1, 10_241)).toBe(sizes[0]! + sizes[1]!)
  })
})

describe('the hashes of a part', () => {
  test('cover every byte of it, and are valid by their schema', () => {
    for (const file of files.filter(({ path }) => path.startsWith('scores/'))) {
      const bytes = store.objects.get(releasePrefix(RELEASE) + rowGroupsPath(file.path))!
      const hashes = JSON.parse(new TextDecoder().decode(bytes)) as RowGroupsFile
      expectValid('row-groups-file', hashes)
      const pieces = [...hashes.row_groups, hashes.footer]
      expect(pieces.reduce((sum, { size_bytes }) => sum + size_bytes, 0)).toBe(file.size_bytes)
    }
  })

  test('of a part without rows are those of its footer', { tags: ['slow'] }, async () => {
    const components = await testComponents({ store: new MemoryStore(), folder, clock: new Clock(NOW) })
    await importRows(components, 'forecasters', `user_id,display_name\n${idOf(0)},Nobody\n`)
    await withDatabase(components.openDatabase, async (database) => {
      await using derived = await deriveRelease(
        { ...components, database },
        {
          release: RELEASE,
          asOf: components.now(),
          environment: 'production',
          versions: await currentVersions(components.store),
          previous: undefined,
          bringsSnapshot: false,
        },
      )
      const own: ManifestFile[] = []
      for await (const file of derived.files(() => null)) {
        await components.store.put(releasePrefix(RELEASE) + file.path, bodyOf(file))
        own.push(entryOf(file))
      }
      const part = await openPart(components.store, RELEASE, own, scoresFile(own, 'forecaster', idOf(0))!)
      expect(part.groups).toEqual([])
      expect(await readRows(components.store, part, { entityId: idOf(0), limit: 10 })).toMatchObject({
        rows: [],
      })
    })
  })
})

describe('damage', () => {
  const prefix = releasePrefix(RELEASE)
  const read = async (from: MemoryStore | FaultStore, entityId: string) => {
    const part = await openPart(from, RELEASE, files, partOf(entityId))
    return readRows(from, part, { entityId, limit: 1000 })
  }

  test(
    'of any byte that an answer is made of is found, and of any other changes nothing',
    { tags: ['slow'] },
    async () => {
      const entityId = idOf(0)
      const path = prefix + partOf(entityId).path
      const { groups } = await open(entityId)
      const whole = await read(store, entityId)
      const bytes = store.objects.get(path)!
      const footerStart = groups.at(-1)!.offset + groups.at(-1)!.piece.size_bytes
      const isRead = (at: number) => at < groups[1]!.offset || at >= footerStart
      const broken = copyOf(store)
      const edges = [0, 3, 4, groups[1]!.offset - 1, groups[1]!.offset, footerStart - 1, footerStart]
      const tail = Array.from({ length: 9 }, (_, index) => bytes.length - 1 - index)
      const spread = Array.from({ length: 60 }, (_, index) => Math.floor((bytes.length * index) / 60))
      const inFooter = Array.from({ length: 60 }, (_, index) =>
        Math.floor(footerStart + ((bytes.length - footerStart) * index) / 60),
      )
      for (const at of [...edges, ...tail, ...spread, ...inFooter]) {
        broken.objects.set(path, Uint8Array.from(bytes).with(at, bytes[at]! ^ 1))
        const found = read(broken, entityId)
        if (isRead(at)) await expect(found, `byte ${at}`).rejects.toMatchObject({ kind: 'corrupt' })
        else expect(await found, `byte ${at}`).toEqual(whole)
      }
    },
  )

  test('names the object, and what was expected and found', async () => {
    const path = prefix + partOf(idOf(0)).path
    const broken = copyOf(store)
    broken.objects.set(path, store.objects.get(path)!.with(100, 1))
    await expect(read(broken, idOf(0))).rejects.toThrow(
      /^releases\/00000001\/scores\/000.parquet, read from byte 0 on: the \d+ bytes at 0 must have the SHA-256 [0-9a-f]{64}; the store has \d+ with [0-9a-f]{64}$/,
    )
    broken.objects.set(path, store.objects.get(path)!.subarray(0, -100))
    await expect(read(broken, idOf(0))).rejects.toMatchObject({ kind: 'corrupt' })
    broken.objects.set(path, store.objects.get(prefix + partOf(idOf(EDGE)).path)!)
    await expect(read(broken, idOf(0))).rejects.toMatchObject({ kind: 'corrupt' })
    broken.objects.delete(path)
    await expect(read(broken, idOf(0))).rejects.toThrow(
      /scores\/000.parquet is in its manifest and not in the store/,
    )
  })

  test('of the hashes is found', async () => {
    const path = prefix + rowGroupsPath(partOf(idOf(0)).path)
    const bytes = store.objects.get(path)!
    const broken = copyOf(store)
    for (let at = 0; at < bytes.length; at += 7) {
      broken.objects.set(path, Uint8Array.from(bytes).with(at, bytes[at]! ^ 1))
      await expect(read(broken, idOf(0)), `byte ${at}`).rejects.toMatchObject({ kind: 'corrupt' })
    }
    broken.objects.delete(path)
    await expect(read(broken, idOf(0))).rejects.toThrow(
      /row-groups\/000.json is in its manifest and not in the/,
    )
    const unnamed = files.filter((file) => file.path !== rowGroupsPath(partOf(idOf(0)).path))
    await expect(openPart(store, RELEASE, unnamed, partOf(idOf(0)))).rejects.toThrow(
      /scores\/000.parquet cannot be read: its manifest does not name row-groups\/000.json$/,
    )
  })

  test('of what the footer says is told from damage of the bytes, and the next page is decoded again', async () => {
    const part = await open(idOf(0))
    const isOfIds = ({ meta_data: column }: (typeof part.metadata.row_groups)[0]['columns'][0]) =>
      column!.path_in_schema[0] === 'entity_id'
    const request = { entityId: idOf(0), limit: 1 }
    const end = BigInt(part.file.size_bytes)
    for (const [wrong, fault] of [
      [{ data_page_offset: end, dictionary_page_offset: end }, 'its footer is of another file'],
      [{ codec: 'LZO' as const }, 'parquet unsupported compression codec: LZO'],
    ] as const) {
      const metadata = structuredClone(part.metadata)
      for (const column of metadata.row_groups.flatMap(({ columns }) => columns).filter(isOfIds))
        Object.assign(column.meta_data!, wrong)
      // Under another hash: a row group that was decoded before is kept.
      const file = { ...part.file, sha256: fault }
      await expect(readRows(store, { ...part, file, metadata }, request)).rejects.toMatchObject({
        kind: 'corrupt',
        message: `${prefix}${part.file.path} cannot be read: ${fault}`,
      })
      expect((await readRows(store, part, request)).rows).toEqual(expected.get(idOf(0))!.slice(0, 1))
    }
  })

  test('on the way is mended by a second read', async () => {
    for (const damagedRead of [1, 2]) {
      let reads = 0
      const path = prefix + partOf(idOf(0)).path
      const flaky = Object.create(store, {
        range: {
          value: async (wanted: string, offset: number, length: number) => {
            reads += 1
            const bytes = await store.range(wanted, offset, length)
            return reads === damagedRead ? bytes!.subarray(1) : bytes
          },
        },
      }) as MemoryStore
      expect(await read(flaky, idOf(0))).toEqual(await read(store, idOf(0)))
      expect(reads, path).toBe(3)
    }
  })

  test('is none where retention has deleted the part', async () => {
    const thinned = copyOf(store)
    await noteThinned(thinned, RELEASE, new Date(NOW))
    const part = await open(idOf(0), thinned)
    for (const path of [partOf(idOf(0)).path, rowGroupsPath(partOf(idOf(0)).path)])
      thinned.objects.delete(prefix + path)
    const error = { kind: 'notFound', type: 'release-thinned' }
    await expect(open(idOf(0), thinned)).rejects.toMatchObject(error)
    await expect(readRows(thinned, part, { entityId: idOf(0), limit: 1 })).rejects.toMatchObject(error)
  })
})
