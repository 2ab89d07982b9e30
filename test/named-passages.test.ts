// Each page, and each passage of a page, that a source names is there, and each source that a page names.
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

test('every source that a page names is there', () => {
  const pages = globSync('{.,docs,bench,bench/notes}/*.md', { cwd: REPOSITORY })
  const path = new RegExp(`(?<![\\w/.-])(?:${ROOMS.join('|')})/[\\w/.-]+\\.(?:ts|js|py|sh|yaml)\\b`, 'g')
  const named = pages.flatMap((page) =>
    [...textOf(page).matchAll(path)].map(([source]) => ({ page, source })),
  )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ source }) => !existsSync(`${REPOSITORY}${source}`))).toEqual([])
})

test('bench/README.md names every program', () => {
  const callers = [...SOURCES.filter((source) => /^(bench|test)\//.test(source)), 'package.json'].map(textOf)
  const programs = globSync('*.ts', { cwd: `${REPOSITORY}bench` }).filter(
    (name) => !callers.some((text) => new RegExp(`['/]${name}['"]`).test(text)),
  )
  expect(programs.length).toBeGreaterThan(5)
  expect(programs.filter((name) => !textOf('bench/README.md').includes(`bench/${name}`))).toEqual([])
})
