// An import of forecasts says how many of its rows count for nothing, and these are the ones that no score
// reads.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { runImport } from '../../jobs/import/import.ts'
import type { ImportKind } from '../../pipeline/import/columns.ts'
import { readReleaseShard, readManifest } from '../../pipeline/release/read.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, release, testComponents } from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'
import { NOW, uuidOf } from '../support/worlds/world.ts'

const PERSON = uuidOf(2, 1)
/** Each was open from 1 January to 1 February. */
const QUESTION = {
  unresolved: uuidOf(1, 1),
  resolvedEarly: uuidOf(1, 2),
  resolvedAfterClose: uuidOf(1, 3),
  annulled: uuidOf(1, 4),
  withdrawn: uuidOf(1, 5),
}
const folder = await suiteFolder()
let components: Components
let prepared: MemoryStore

async function importLines(kind: ImportKind, lines: readonly string[]) {
  const path = join(components.directory, `${kind}.csv`)
  await writeFile(path, `${lines.join('\n')}\n`)
  return runImport(components, kind, path)
}

function importForecasts(forecasts: readonly (readonly [question: string, at: string])[]) {
  const lines = forecasts.map(([question, at]) => `forecaster,${PERSON},${question},0.5,${at}`)
  return importLines('forecasts', ['entity_type,entity_id,question_id,probability,forecast_at', ...lines])
}

beforeAll(async () => {
  prepared = new MemoryStore()
  components = await testComponents({ store: prepared, folder, clock: new Clock(NOW) })
  await importLines('questions', [
    'question_id,title,opened_at,closes_at',
    ...Object.values(QUESTION).map((id) => `${id},Will it?,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z`),
  ])
  await importLines('resolutions', [
    'question_id,outcome,resolved_at',
    `${QUESTION.resolvedEarly},yes,2026-01-20T00:00:00Z`,
    `${QUESTION.resolvedAfterClose},no,2026-02-10T00:00:00Z`,
    `${QUESTION.annulled},annulled,2026-01-20T00:00:00Z`,
    `${QUESTION.withdrawn},yes,2026-01-10T00:00:00Z`,
  ])
  await importLines('resolutions', [
    'question_id,outcome,resolved_at',
    `${QUESTION.withdrawn},open,2026-01-20T00:00:00Z`,
  ])
})

beforeEach(async () => {
  components = await testComponents({ store: copyOf(prepared), folder, clock: new Clock(NOW) })
})

/** Forecasts before the open, in the last millisecond that counts, and in the first that does not. */
const COUNTED = [
  [QUESTION.unresolved, '2025-12-01T00:00:00Z'],
  [QUESTION.unresolved, '2026-01-31T23:59:59.999Z'],
  [QUESTION.resolvedEarly, '2025-12-01T00:00:00Z'],
  [QUESTION.resolvedEarly, '2026-01-19T23:59:59.999Z'],
  [QUESTION.resolvedAfterClose, '2026-01-31T23:59:59.999Z'],
  [QUESTION.annulled, '2026-01-19T23:59:59.999Z'],
  [QUESTION.withdrawn, '2026-01-31T23:59:59.999Z'],
] as const
const TOO_LATE = [
  [QUESTION.unresolved, '2026-02-01T00:00:00Z'],
  [QUESTION.resolvedEarly, '2026-01-20T00:00:00Z'],
  [QUESTION.resolvedEarly, '2026-02-05T00:00:00Z'],
  [QUESTION.resolvedAfterClose, '2026-02-01T01:00:00+01:00'],
  [QUESTION.resolvedAfterClose, '2026-02-09T00:00:00Z'],
  [QUESTION.annulled, '2026-01-20T00:00:00Z'],
  [QUESTION.withdrawn, '2026-02-01T00:00:00Z'],
] as const

test(
  'an import without such rows says nothing of them, and none of another kind has any',
  { tags: ['slow'] },
  async () => {
    const { json, text } = await importForecasts(COUNTED)
    expect(json).toMatchObject({ rows: 7, added: 7, too_late: 0 })
    expect(text.split('\n')).toEqual([
      'forecasts: 7 of 7 rows added, 0 known already, 1 forecasters met for the first time',
      expect.stringMatching(/^import /),
    ])
    const people = await importLines('forecasters', ['user_id', uuidOf(2, 2)])
    expect(people.json).toMatchObject({ added: 1, too_late: 0 })
  },
)

test('every such row is counted, whether it is new or known already', { tags: ['slow'] }, async () => {
  await importForecasts(COUNTED)
  const { json, text } = await importForecasts([...COUNTED, ...TOO_LATE])
  expect(json).toMatchObject({ rows: 14, added: 7, unchanged: 7, too_late: 7 })
  expect(text).toContain(
    'forecasts: 7 of 14 rows added, 7 known already\n' +
      '7 of the rows count for nothing: the question had closed by then, or its outcome was known',
  )
  const again = await importForecasts([TOO_LATE[0]])
  expect(again.json).toMatchObject({ added: 0, too_late: 1 })
  expect(again.text).toContain('1 of the rows counts for nothing')
})

test(
  'the scores read the other rows of questions with an outcome, and none of these',
  { tags: ['slow'] },
  async () => {
    await importForecasts([...COUNTED, ...TOO_LATE])
    await release(components)
    const manifest = (await readManifest(components.store, 1))!
    expect(manifest.counts.forecasts).toBe(14)
    const { entities } = await readReleaseShard(components.store, 1, manifest.files[0]!)
    const scored: string[] = [QUESTION.resolvedEarly, QUESTION.resolvedAfterClose]
    const counted = COUNTED.filter(([question]) => scored.includes(question))
    expect(entities[PERSON]!.metrics.payload).toMatchObject({ forecasts: counted.length })
  },
)
