// The summary of a release: which certificates are new and which are lost.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { attachAwards, summaryOf } from '../../pipeline/release/compare.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { releasePrefix } from '../../pipeline/store/paths.ts'
import type { ManifestFile, ReleaseManifest } from '../../schemas/manifests.ts'
import { testComponents } from '../support/http/service.ts'

type Awards = Record<string, string>

test('counts the certificates of both kinds, whoever else reads them', async () => {
  const store = new MemoryStore()
  const components = await testComponents({ store })
  const { directory, openDatabase } = components

  /** A release with a file of entities for each kind. */
  async function released(
    release: number,
    kinds: { agent: Awards; forecaster: Awards },
    rest: object,
  ): Promise<ReleaseManifest> {
    const files: ManifestFile[] = []
    for (const [nth, [kind, awards]] of Object.entries(kinds).entries()) {
      const path = `entities/00${nth}.parquet`
      const location = join(directory, `${release}-${nth}.parquet`)
      const rows = Object.entries(awards).map(([id, award]) => `('${kind}', '${id}', '${award}', 0.5)`)
      await withDatabase(openDatabase, (database) =>
        database.run(
          `COPY (SELECT * FROM (VALUES ${rows.join()}) t (entity_type, entity_id, award, skill)) TO '${location}' (FORMAT parquet)`,
        ),
      )
      const bytes = await readFile(location)
      store.objects.set(releasePrefix(release) + path, bytes)
      files.push({ path, rows: rows.length, size_bytes: bytes.length, sha256: sha256Hex(bytes) })
    }
    return { release, files, corrections: [], ...rest } as unknown as ReleaseManifest
  }

  const before = await released(
    1,
    {
      agent: { a: 'certified', b: 'measured', c: 'certified' },
      forecaster: { a: 'measured', b: 'certified' },
    },
    { counts: { scored_questions: 40 }, questions: { early: 0 } },
  )
  const now = await released(
    2,
    {
      agent: { a: 'certified', b: 'certified', c: 'measured', d: 'none' },
      forecaster: { a: 'certified', c: 'none' },
    },
    { counts: { scored_questions: 50 }, questions: { early: 3 }, corrections: [{}] },
  )
  const summary = await summaryOf(components, now, before)
  expect(summary).toEqual({
    scored: 50,
    settled: 7,
    certified: 2,
    lost: 2,
    corrected: 1,
    erased: 0,
    all: { settled: 47, certified: 3 },
  })
  const first = await summaryOf(components, now, undefined)
  expect(first).toMatchObject({ settled: 47, certified: 3, lost: 0, all: { settled: 47, certified: 3 } })

  await withDatabase(openDatabase, async (database) => {
    const other = await attachAwards(components, database, now, before)
    await using own = await attachAwards(components, database, now, before)
    await other[Symbol.asyncDispose]()
    expect(own.isKnown).toBe(true)
    expect(await database.rows('FROM award_change'), 'read while another reader ends').toHaveLength(7)
  })
})
