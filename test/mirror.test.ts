// examples/mirror.py, run as its readers run it: a platform's SQLite database goes into the real service.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { OPERATOR_SCOPES } from '../schemas/tiers.ts'
import { RunningCommand } from './support/command.ts'
import { REPOSITORY } from './support/fenced-blocks.ts'
import { suiteFolder } from './support/folder.ts'
import { Clock, testService } from './support/http/service.ts'
import { NOW } from './support/worlds/world.ts'

const PATH = `${REPOSITORY}examples/mirror.py`
const folder = await suiteFolder()
const isMissing = spawnSync('python3', ['--version']).error !== undefined
if (isMissing && process.env['CI'] === 'true') throw new Error('not installed: python3')

test('has less than sixty lines, without what is in no standard library', () => {
  const code = readFileSync(PATH, 'utf8').match(/^(?!\s*(?:#|"""|$)).*$/gm)
  expect(code!.length).toBeLessThan(60)
})

test.skipIf(isMissing)('mirrors what is new, and sends nothing twice', async () => {
  const { url, client, components } = await testService({ folder, clock: new Clock(NOW) })
  const key = await components.registry.createOperatorKey('a platform', new Date(NOW), OPERATOR_SCOPES)
  const file = join(folder, 'platform.db')
  const database = new DatabaseSync(file)
  database.exec(`
    CREATE TABLE questions (id INTEGER, title TEXT, category TEXT, opens TEXT, closes TEXT, change INTEGER);
    CREATE TABLE people (id INTEGER, name TEXT, change INTEGER);
    CREATE TABLE outcomes (question INTEGER, outcome TEXT, known_at TEXT, change INTEGER);
    CREATE TABLE forecasts (person INTEGER, question INTEGER, probability REAL, made_at TEXT, change INTEGER);
    INSERT INTO questions VALUES (1, 'Will it rain?', 'weather', '2026-01-01T00:00:00Z', '2026-04-01T00:00:00Z', 1),
      (2, 'Will it snow?', NULL, '2026-01-01T00:00:00Z', '2026-04-01T00:00:00Z', 2);
    INSERT INTO people VALUES (7, 'Ada', 3);
    INSERT INTO outcomes VALUES (2, 'no', '2026-02-20T00:00:00Z', 4);
    INSERT INTO forecasts VALUES (7, 1, 0.25, '2026-03-01T11:59:00Z', 5), (7, 2, 0.5, '2026-02-01T00:00:00Z', 6);`)
  const run = async () => {
    const env = { FVS_URL: url, FVS_OPERATOR_KEY: key }
    const { code, stdout, stderr } = await new RunningCommand('python3', [PATH, file, 'once'], {
      cwd: folder,
      env,
    }).ended
    return { code, stdout, stderr }
  }
  const lines = (...counts: [string, number, number, number][]) =>
    counts
      .map(
        ([kind, added, changed, known]) =>
          `${kind}: ${added} added, ${changed} changed, ${known} known already\n`,
      )
      .join('')

  expect(await run()).toEqual({
    code: 0,
    stdout: lines(
      ['questions', 2, 0, 0],
      ['forecasters', 1, 0, 0],
      ['resolutions', 1, 0, 0],
      ['forecasts', 2, 0, 0],
    ),
    stderr: '',
  })
  database.exec(`
    UPDATE questions SET title = 'Will it rain in Paris?', change = 7 WHERE id = 1;
    UPDATE outcomes SET outcome = 'yes', change = 8;
    INSERT INTO forecasts VALUES (8, 1, 0.75, '2026-03-01T11:59:30Z', 9);`)
  database.close()
  expect((await run()).stdout).toBe(
    lines(['questions', 0, 1, 1], ['forecasters', 0, 0, 1], ['resolutions', 0, 1, 0], ['forecasts', 1, 0, 2]),
  )
  await expect
    .poll(async () => (await client.get('/questions')).json<{ questions: { title: string }[] }>().questions)
    .toEqual(
      expect.arrayContaining([
        expect.objectContaining({ title: 'Will it rain in Paris?', status: 'open' }),
        expect.objectContaining({ title: 'Will it snow?', outcome: 'yes' }),
      ]),
    )
})
