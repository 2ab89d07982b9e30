// Which test files a run of CI takes: .ci/turn.ts, over the suites of test/suites.ts.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { LONG, PARTS, concernedBy, filesOf, partOf, roomOf, testedBy } from '../.ci/turn.ts'
import { BY_TURNS, EXHAUSTIVE, OUTSIDE, SYSTEM, UNIT, filesIn } from './suites.ts'

const ALL = filesIn(['test/**/*.test.ts'])
const SUITES = { exhaustive: EXHAUSTIVE, system: SYSTEM, ...OUTSIDE }

/** Each name that a pattern lists in braces, as a pattern of its own. */
function expanded(pattern: string): string[] {
  const [all, list] = /\{(.*?)\}/.exec(pattern) ?? []
  return list === undefined ? [pattern] : list.split(',').map((name) => pattern.replace(all!, name))
}

describe('the suites', () => {
  test.for([...SYSTEM, ...Object.values(OUTSIDE), ...BY_TURNS].flatMap(expanded))(
    '%s names files that exist',
    (pattern) => {
      expect(filesIn([pattern])).not.toEqual([])
    },
  )

  test('have no file twice', () => {
    const files = Object.values(SUITES).flatMap((suite) => filesIn([suite].flat()))
    expect(files).toEqual([...new Set(files)])
  })

  test('have a command each', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Record<string, string>
    }
    const commands = Object.keys(scripts).filter((name) => name.startsWith('test:'))
    expect(commands.sort()).toEqual(['all', ...Object.keys(SUITES)].map((name) => `test:${name}`).sort())
  })
})

describe('the parts', () => {
  const parts = Array.from({ length: PARTS }, (_, part) => filesOf(part, []))

  test('are the whole together', () => {
    expect([...new Set([...UNIT, ...parts.flat()])].sort()).toEqual(ALL)
  })

  test('have each file that takes long once, and every other in each', () => {
    const long = parts.map((files) => files.filter((file) => LONG.includes(file)))
    expect(long.flat().sort()).toEqual(LONG.toSorted())
    for (const files of long) expect(files.length).toBeLessThanOrEqual(Math.ceil(LONG.length / PARTS))
    const others = parts.map((files) => files.filter((file) => !LONG.includes(file)))
    for (const files of others) expect(files).toEqual(others[0])
  })

  test('deal the files of a suite to all', () => {
    const faults = filesIn([OUTSIDE.faults])
    const counts = parts.map((files) => files.filter((file) => faults.includes(file)).length)
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
    expect(partOf(['a', 'b', 'c', 'd', 'e', 'f'], 0)).toEqual(['a', 'f'])
  })
})

describe('a change', () => {
  test('in a room takes all that test it and the rooms that import it', () => {
    const concerned = concernedBy(['pipeline/import/import.ts'])
    expect(concerned).toContain('pipeline/import')
    expect(concerned).toContain('jobs/import')
    expect(concerned).not.toContain('pipeline/scoring')
    expect(concernedBy(['pipeline/import/unzip.ts'])).not.toContain('jobs/import')
    const expected = LONG.filter((file) => file.startsWith('test/import/'))
    expect(expected.length).toBeGreaterThan(3)
    for (const part of Array.from({ length: PARTS }).keys())
      expect(filesOf(part, ['pipeline/import/import.ts'])).toEqual(expect.arrayContaining(expected))
  })

  test('of a test takes that test', () => {
    for (const file of LONG.slice(0, PARTS)) expect(filesOf(0, [file])).toContain(file)
  })

  test('of a document takes nothing more', () => {
    expect(filesOf(0, ['docs/run.md', 'README.md'])).toEqual(filesOf(0, []))
  })
})

test.for([
  ['api/http/server.ts', 'api/http'],
  ['pipeline/duckdb.ts', 'pipeline/duckdb.ts'],
  ['jobs/serve/serve.ts', 'jobs/serve'],
  ['README.md', undefined],
])('%s lies in %s', ([path, room]) => {
  expect(roomOf(path!)).toBe(room)
})

test('each file that takes long tests a room', () => {
  expect(LONG.filter((file) => testedBy(file).length === 0)).toEqual([])
})
