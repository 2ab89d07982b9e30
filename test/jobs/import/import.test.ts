// `fvs import` as a process: standard input, the dry run, the template, and what a hostile file can print.
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { RunningCommand } from '../../support/command.ts'
import { testFolder } from '../../support/folder.ts'
import { uuidOf } from '../../support/worlds/world.ts'

const FVS = fileURLToPath(new URL('../../../jobs/fvs.js', import.meta.url))

const importing = (folder: string, input: string, ...args: string[]) =>
  new RunningCommand(process.execPath, [FVS, 'import', ...args, '--store', `file://${folder}/store`], {
    cwd: folder,
    env: { HOME: folder, TMPDIR: folder },
    input,
  }).ended

test('standard input is read, and a template printed is a file to import', async () => {
  const folder = await testFolder()
  const template = await importing(folder, '', 'questions', '--template')
  expect(template).toMatchObject({ code: 0, stderr: '' })
  expect(template.stdout).toMatch(
    /^question_id,title,resolution_criteria,background,category,.*,opened_at,closes_at\n\S.*\n$/,
  )
  expect(await readdir(folder)).toEqual([])
  const first = await importing(folder, template.stdout, 'questions', '-', '--dry-run')
  expect(first).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/of 1 rows 1 are new.*\nthere is no store yet/) as string,
    stderr: '',
  })
  expect(await readdir(folder)).not.toContain('store')
  const imported = await importing(folder, template.stdout, 'questions', '-')
  expect(imported).toMatchObject({
    code: 0,
    stdout:
      'questions: 1 of 1 rows added, 0 known already\nimport questions-1; `fvs imports undo questions-1` takes it back\n',
  })
  const again = await importing(folder, template.stdout, 'questions', '-', '--dry-run', '--json')
  expect(JSON.parse(again.stdout)).toMatchObject({ dry_run: true, rows: 1, added: 0, unchanged: 1, bad: 0 })
  expect(again).toMatchObject({ code: 0, stderr: '' })
})

test('what a file says is shown and does not steer the terminal', async () => {
  const folder = await testFolder()
  const rows = `user_id,display_name\n"\u001b[2J\nline 9: fine",Ada\n${uuidOf(2, 1)},a\u202eb\n`
  const { code, stderr } = await importing(folder, rows, 'forecasters', '-')
  expect(code).toBe(1)
  const shown = stderr.split('\n').filter((line) => !line.startsWith('{'))
  expect(shown).toEqual([
    'fvs: standard input: 2 bad rows; nothing was imported',
    '  line 2: user_id is "\\u{1b}[2J\\u{a}line 9: fine", not a UUID; an id of your own? see --ids',
    expect.stringMatching(/^ {2}line 4: display_name must not have the character U\+202E/),
    '',
  ])
})
