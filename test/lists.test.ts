// Lists that no compiler holds: each problem and each call has a test that names it, and a page's tables have
// as many cells as heads.
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { allRoutes } from '../api/routes/all.ts'
import { METHODOLOGY } from '../pipeline/scoring/methodology.ts'
import { PROBLEM_NAMES } from '../schemas/problems.ts'
import { REPOSITORY } from './support/fenced-blocks.ts'

const filesOf = (pattern: string) =>
  globSync(pattern, { cwd: REPOSITORY }).map((path) => ({
    path,
    text: readFileSync(`${REPOSITORY}${path}`, 'utf8').replaceAll(/ from '.*'/g, ''),
  }))
const tests = [...filesOf('test/**/*.test.ts'), ...filesOf('test/cases/http/*.txt')].filter(
  ({ path }) => !path.includes('node_modules') && !path.endsWith('lists.test.ts'),
)

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
