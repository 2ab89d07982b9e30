// Files of platforms, as each gives them: the report, the rows that are imported, and the scores that a
// platform publishes. A folder of `sources/` is a case. `npx vitest run --project unit FILE -u` writes the
// goldens anew.
// @module-tag slow
import { readFileSync } from 'node:fs'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { v5 as uuidv5 } from 'uuid'
import { expect, test } from 'vitest'
import { runImportFrom } from '../../jobs/import/import-from.ts'
import { runImport } from '../../jobs/import/import.ts'
import { parseOptions } from '../../pipeline/import/options.ts'
import { SOURCES } from '../../pipeline/import/sources.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, testComponents } from '../support/http/service.ts'
import { CASES, filesOf, rowsOf, sourceOf } from '../support/worlds/source-cases.ts'
import { zipOf } from '../support/zip.ts'

const folder = await suiteFolder()
const clock = new Clock('2026-11-26T12:00:00.000Z')
const fresh = () => testComponents({ store: new MemoryStore(), clock, folder })

interface Sums {
  read: number
  taken: number
  repeated: number
  left_out: number
  reasons: { reason: string; count: number; examples: string[] }[]
}

test('every source has a case', async () => {
  expect((await readdir(CASES)).toSorted()).toEqual(SOURCES.map(({ name }) => name).toSorted())
})

test.each(SOURCES.map(({ name }) => name))('%s: each row is taken, repeated or left out', async (name) => {
  const components = await fresh()
  const paths = await filesOf(name)
  const { ok, text, json } = await runImportFrom(components, sourceOf(name), paths, { check: true })
  expect(ok).toBe(true)
  await expect(`${text}\n`).toMatchFileSnapshot(join(CASES, name, 'report.txt'))
  await expect(await rowsOf(components)).toMatchFileSnapshot(join(CASES, name, 'rows.txt'))
  const { files } = json as { files: Sums[] }
  for (const { read, taken, repeated, left_out, reasons } of files) {
    expect(taken + repeated + left_out).toBe(read)
    expect(reasons.reduce((sum, { count }) => sum + count, 0)).toBe(left_out)
    for (const { count, examples } of reasons) {
      expect(examples.length).toBeGreaterThan(0)
      expect(examples.length).toBeLessThanOrEqual(Math.min(count, 3))
    }
  }
  const again = await runImportFrom(components, sourceOf(name), paths.toReversed())
  const { imported } = again.json as { imported: { added: number; changed: number }[] }
  expect(imported.every(({ added, changed }) => added === 0 && changed === 0)).toBe(true)
})

test('an id is the version 5 UUID of the text in the namespace of its source, as with --ids text', async () => {
  const components = await fresh()
  const { namespace } = sourceOf('manifold')
  await runImportFrom(components, sourceOf('manifold'), await filesOf('manifold'))
  expect(await rowsOf(components)).toContain(
    `"question_id":"${uuidv5('aB1', namespace)}","title":"Will it rain on Monday?"`,
  )
  const path = join(components.directory, 'forecasters.csv')
  await writeFile(path, 'user_id\nu1\n')
  const options = parseOptions('forecasters', { ids: 'text', namespace })
  expect((await runImport(components, 'forecasters', path, options)).json).toMatchObject({
    unchanged: 1,
    added: 0,
  })
})

test('a zip gives what its files give, and names the members that are not read', async () => {
  const [zipped, plain] = [await fresh(), await fresh()]
  const paths = await filesOf('metaculus')
  const members = Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path.slice(CASES.length), await readFile(path)] as const)),
  )
  const archive = join(zipped.directory, 'data.zip')
  await writeFile(
    archive,
    zipOf({ ...members, 'README.md': 'read me', 'comment_data.csv': 'Post ID,Comment Text\n1,a\n' }),
  )
  const { text } = await runImportFrom(zipped, sourceOf('metaculus'), [archive])
  await runImportFrom(plain, sourceOf('metaculus'), paths)
  expect(await rowsOf(zipped)).toBe(await rowsOf(plain))
  expect(text).toContain('data.zip/question_data.csv: 5 rows\n')
  expect(text).toContain('not read: data.zip/comment_data.csv\n')
})

/** The forecasts and scores have the columns of a download. Their README says where they are from. */
test.for([
  ['without a secret', {}],
  ['with IDS_SECRET', { IDS_SECRET: 'a secret of at least thirty-two bytes' }],
] as const)(
  'peer and baseline scores of 47 pairs are those that Metaculus published, within 1e-6, %s',
  async ([, settings]) => {
    const components = await testComponents({ store: new MemoryStore(), clock, folder, settings })
    const rows = (file: string) =>
      readFileSync(new URL(`../vectors/metaculus-q3-2024/${file}`, import.meta.url), 'utf8')
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.split(','))
    const write = async (name: string, lines: readonly string[]) => {
      await writeFile(join(components.directory, name), `${lines.join('\n')}\n`)
      return join(components.directory, name)
    }
    const time = (at: string) => at.replace('T', ' ').replace('Z', '+00:00')
    const question = (id: string, opens: string, closes: string) =>
      `${id},Question ${id},${id},binary,${time(opens)},${time(closes)},${time(closes)},yes,${time(closes)}`
    const paths = await Promise.all([
      write('question_data.csv', [
        'Question ID,Question Title,Post ID,Question Type,Open Time,Scheduled Close Time,Actual Close Time,Resolution,Resolution Known Time',
        question('25520', '2024-06-20T11:00:00Z', '2024-07-04T11:00:00Z'),
        question('25970', '2024-07-08T14:30:00Z', '2024-07-11T14:30:00Z'),
      ]),
      write('forecast_data.csv', [
        'Question ID,Forecaster ID,Forecaster Username,Start Time,End Time,Probability Yes',
        ...rows('forecasts.csv').map(([id, who, at, p]) => `${id},${who},${who},${time(at!)},,${p}`),
      ]),
      write('score_data.csv', [
        'Question ID,User ID,User Username,Score Type,Score,Coverage',
        ...rows('scores.csv').flatMap(([id, who, baseline, peer]) => [
          `${id},${who},${who},baseline,${baseline},1`,
          `${id},${who},${who},peer,${peer},1`,
          `${id},${who},${who},spot_peer,0,1`,
        ]),
      ]),
    ])
    const { json } = await runImportFrom(components, sourceOf('metaculus'), paths, {
      check: true,
      dryRun: true,
    })
    const { check } = json as {
      check: { scores: { pairs: number; largestDifference: number; notScored: number }[] }
    }
    expect(check.scores).toMatchObject([
      { score: 'baseline_score', pairs: 47, notScored: 0 },
      { score: 'peer_score', pairs: 47, notScored: 0 },
    ])
    for (const { largestDifference } of check.scores) expect(largestDifference).toBeLessThanOrEqual(1e-6)
  },
)
