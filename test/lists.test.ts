// Lists that no compiler holds: the documents name each folder, suite and page, each problem and each call has a test
// that names it, and a page's tables have as many cells as heads.
import { globSync, readFileSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { allRoutes } from '../api/routes/all.ts'
import { METHODOLOGY } from '../pipeline/scoring/methodology.ts'
import { parseSettings } from '../schemas/config.ts'
import { PROBLEM_NAMES } from '../schemas/problems.ts'
import { REPOSITORY, textOf } from './support/fenced-blocks.ts'

const filesOf = (pattern: string) =>
  globSync(pattern, { cwd: REPOSITORY }).map((path) => ({
    path,
    text: readFileSync(`${REPOSITORY}${path}`, 'utf8').replaceAll(/ from '.*'/g, ''),
  }))
const tests = [...filesOf('test/**/*.test.ts'), ...filesOf('test/api/http/*-cases.ts')].filter(
  ({ path }) => !path.includes('node_modules') && !path.endsWith('lists.test.ts'),
)

/** The names in the folder `path` that the repository has as folders of sources. */
const foldersIn = (path: string) =>
  readdirSync(`${REPOSITORY}${path}`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^(?:\.|node_modules$|dist|data$)/.test(entry.name))
    .map(({ name }) => name)

test('README.md names each folder, and no other', () => {
  const [, block] = /## Where things are\n\n```\n([^]*?)```/.exec(textOf('README.md'))!
  const lines = Array.from(block!.matchAll(/^(\w+)\/ +(.*(?:\n .*)*)/gm), ([, folder, words]) => ({
    folder: folder!,
    words: words!,
  }))
  expect(lines.map(({ folder }) => folder).toSorted()).toEqual(foldersIn('.').toSorted())
  for (const { folder, words } of lines.filter(({ folder: one }) => one === 'pipeline' || one === 'api')) {
    const named = Array.from(words.matchAll(/(?:^|· *|\n +)([\w-]+)\/(?!\w)/g), ([, name]) => name!)
    expect(named.toSorted(), folder).toEqual(foldersIn(folder).toSorted())
  }
})

test('README.md names each suite, and no document names another', () => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
  const suites = Object.keys(scripts).filter((name) => name.startsWith('test:'))
  const namedIn = (text: string) => Array.from(text.matchAll(/npm run (test:[\w-]+)/g), ([, name]) => name!)
  expect(suites.filter((name) => !namedIn(textOf('README.md')).includes(name))).toEqual([])
  const pages = filesOf('{*.md,docs/**/*.md,bench/**/*.md}')
  const unknown = pages.flatMap(({ path, text }) =>
    namedIn(text)
      .filter((name) => !suites.includes(name))
      .map((name) => `${path}: ${name}`),
  )
  expect(unknown).toEqual([])
})

test('the settings that README.md shows have the defaults that it says', () => {
  const settings = parseSettings({}) as Record<string, unknown>
  const rows = textOf('README.md').matchAll(/^\| (`[A-Z_`, ]+`) +\| (.*?) +\|/gm)
  const spans = (text: string) => Array.from(text.matchAll(/`([^`]+)`/g), ([, span]) => span!)
  const shown = Array.from(rows, ([, names, defaults]) =>
    spans(names!).map((name, index) => [name, spans(defaults!)[index]]),
  ).flat()
  expect(shown.length).toBeGreaterThan(3)
  for (const [name, value] of shown) expect(String(settings[name!]), name).toBe(String(value))
})

test('docs/README.md names each page of docs/', () => {
  const listed = new Set(
    Array.from(textOf('docs/README.md').matchAll(/\]\(([\w.-]+\.md|decisions\/)/g), ([, page]) => page!),
  )
  const pages = readdirSync(`${REPOSITORY}docs`).filter(
    (name) => name.endsWith('.md') && name !== 'README.md',
  )
  expect([...listed].toSorted()).toEqual([...pages, 'decisions/'].toSorted())
})

test('a test provokes each type of problem by its name', () => {
  const unnamed = PROBLEM_NAMES.filter((name) => !tests.some(({ text }) => text.includes(name)))
  expect(unnamed).toEqual([])
})

/** Whether a text asks for a path: it has each part after a slash, or the name of a table in quotes. */
function isAsked(path: string, text: string): boolean {
  const parts = path.split('/').filter((part) => part !== '' && !part.startsWith('{'))
  return parts.every(
    (part) => text.includes(`/${part}`) || (part.endsWith('.csv') && text.includes(`'${part.slice(0, -4)}'`)),
  )
}

test('a test asks for the path of each call', () => {
  const routes = allRoutes({ version: '0.0.0', methodology: METHODOLOGY, methodologyText: new Uint8Array() })
  const paths = new Set(routes.map(({ path }) => path).filter((path) => !path.startsWith('/assets/')))
  expect([...paths].filter((path) => !tests.some(({ text }) => isAsked(path, text)))).toEqual([])
})

describe('a row of a table has as many cells as the table has columns', () => {
  const pages = filesOf('test/cases/pages/*.html')
  test.each(pages)('in $path', ({ text }) => {
    for (const [table] of text.matchAll(/<table[^]*?<\/table>/g)) {
      const widths = Array.from(table.matchAll(/<tr[^]*?<\/tr>/g), ([row]) => widthOf(row))
      expect(new Set(widths), table.slice(0, 300)).toHaveLength(1)
    }
  })
})

/** The columns that the cells of a row take. */
function widthOf(row: string): number {
  const spans = Array.from(row.matchAll(/<t[hd]([^>]*)>/g), ([, attributes]) =>
    Number(/colspan="?(\d+)/.exec(attributes!)?.[1] ?? 1),
  )
  return spans.reduce((sum, span) => sum + span, 0)
}
