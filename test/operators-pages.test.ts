// What the operators' pages list and name is there: limits, tiers, settings and commands.
import { expect, test } from 'vitest'
import { POLICIES } from '../api/limits/admission.ts'
import { COMMANDS } from '../jobs/commands.ts'
import { SOURCES } from '../pipeline/import/sources.ts'
import { SETTING_NAMES } from '../schemas/config.ts'
import { BULK_IDS } from '../schemas/tiers.ts'
import { program } from './support/commands.ts'
import { textOf } from './support/fenced-blocks.ts'
import { tableUnder } from './support/page-table.ts'

const PAGES = ['run', 'operate', 'recover', 'import', 'privacy', 'security', 'spark', 'measured'].map(
  (name) => `docs/${name}.md`,
)

test('docs/operate.md lists every limit once', () => {
  const [, ...rows] = tableUnder('docs/operate.md', '## Limits')
  expect(rows.map(([name]) => name!.slice(1, -1)).toSorted()).toEqual([...POLICIES].toSorted())
})

test('docs/operate.md has the ids that a call of each tier may name', () => {
  const [, ...rows] = tableUnder('docs/operate.md', '### Tiers')
  const written = rows.map(([tier, , ids]) => [tier, Number(ids)])
  expect(Object.fromEntries(written)).toEqual({ 'no key': BULK_IDS.free, ...BULK_IDS })
})

test.for(PAGES)('%s names settings and commands that are there', (page) => {
  const text = textOf(page)
  const settings = [...text.matchAll(/\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b/g)].map(([name]) => name)
  const others = /^(AWS|FVS|NODE|FAULT|SERVE|BACKUP)_|_ID$/
  expect(settings.filter((name) => !others.test(name) && !SETTING_NAMES.includes(name))).toEqual([])
  const commands = [...text.matchAll(/(?<!-g )\bfvs ([a-z][a-z-]*)/g)].map(([, name]) => name!)
  expect(commands.filter((name) => !Object.hasOwn(COMMANDS, name))).toEqual([])
})

test('docs/import.md has every option of an import, and a section for every source', () => {
  const imports = program.commands.filter((command) => ['import', 'import-from'].includes(command.name()))
  const options = imports.flatMap((command) => command.options.map(({ long }) => long!))
  const text = textOf('docs/import.md')
  const common = ['--store', '--json', '--environment']
  expect(options.filter((long) => !common.includes(long) && !text.includes(long))).toEqual([])
  const sections = [...text.matchAll(/^### (\w+)$/gm)].map(([, heading]) => heading!)
  expect(sections.toSorted()).toEqual(SOURCES.map(({ name }) => name).toSorted())
})
