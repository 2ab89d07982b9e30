// Each page, and each passage of a page, that a source or an error message names is there.
import { existsSync, globSync } from 'node:fs'
import { expect, test } from 'vitest'
import { REPOSITORY, textOf } from './support/fenced-blocks.ts'

const ROOMS = ['schemas', 'pipeline', 'api', 'jobs', 'clients', 'deploy', 'bench', 'test', 'examples']
const SOURCES = ROOMS.flatMap((room) =>
  globSync(`${room}/**/*.{ts,js,py,yaml,json,service,sh}`, {
    cwd: REPOSITORY,
    exclude: (path) => path.includes('node_modules'),
  }),
)
/** A page, and the beginning of a heading in it. */
const NAMED = /\b((?:docs|bench)\/[\w/-]+\.md)(?:, ([A-Z][a-z]+(?: [a-z]+)*))?/g

const headingsOf = (page: string) => [...textOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!)

test('every page and passage that a source names is there', () => {
  const named = SOURCES.flatMap((source) =>
    [...textOf(source).matchAll(NAMED)].map(([, page, passage]) => ({ source, page: page!, passage })),
  )
  expect(named.filter(({ passage }) => passage !== undefined).length).toBeGreaterThan(10)
  const missing = named.filter(
    ({ page, passage }) =>
      !existsSync(`${REPOSITORY}${page}`) ||
      (passage !== undefined && !headingsOf(page).some((heading) => heading.startsWith(passage))),
  )
  expect(missing).toEqual([])
})
