// The forecasts of which an import says that they count for nothing are those that no score reads.
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { ImportKind } from '../../pipeline/import/columns.ts'
import { readManifest, readReleaseShard } from '../../pipeline/release/read.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { Clock, importRows, release, testComponents } from '../support/http/service.ts'
import { NOW, uuidOf } from '../support/worlds/world.ts'

const textOf = (name: string) => readFile(new URL(`cases/too-late/${name}.csv`, import.meta.url), 'utf8')

test(
  'the scores read the other rows of questions with an outcome, and none of these',
  { tags: ['slow'] },
  async () => {
    const components = await testComponents({ store: new MemoryStore(), clock: new Clock(NOW) })
    const imported = async (kind: ImportKind, ...names: readonly string[]) =>
      importRows(components, kind, (await Promise.all(names.map(textOf))).join(''))
    await imported('questions', 'q')
    await imported('resolutions', 'r')
    await imported('resolutions', 'withdrawn')
    expect(await imported('forecasts', 'counted', 'late')).toMatchObject({ added: 14, too_late: 7 })
    await release(components)
    const manifest = (await readManifest(components.store, 1))!
    expect(manifest.counts.forecasts).toBe(14)
    const { entities } = await readReleaseShard(components.store, 1, manifest.files[0]!)
    // Two of the rows that count are on one of the questions with an outcome, and one on the other.
    expect(entities[uuidOf(2, 1)]!.metrics.payload).toMatchObject({ forecasts: 3 })
  },
)
