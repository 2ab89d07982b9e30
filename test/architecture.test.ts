// docs/architecture.md says what the sources say: its rooms and arrows are those of the lint rule, and the files
// and tests at which a change begins exist.
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ARROWS } from '../oxlint.config.ts'
import { REPOSITORY, textOf } from './support/fenced-blocks.ts'

const page = textOf('docs/architecture.md')
const sectionOf = (heading: string) => page.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!
const pathsIn = (text: string) =>
  Array.from(text.matchAll(/`([^`]+)`/g), ([, path]) => path!.replace(/\/$/, ''))

/** Rooms of tests and of single files outside of the service. */
const NOT_LISTED = ['bench', 'test', 'package.json']

test('the table has every room of the lint rule and no other', () => {
  const listed = Array.from(sectionOf('Rooms').matchAll(/^\| (`.*?) +\|/gm), ([, names]) =>
    pathsIn(names!),
  ).flat()
  const isIn = (room: string, name: string) => room === name || room.startsWith(`${name}/`)
  const rooms = Object.keys(ARROWS).filter((room) => !NOT_LISTED.includes(room))
  expect(rooms.filter((room) => !listed.some((name) => isIn(room, name)))).toEqual([])
  expect(listed.filter((name) => !rooms.some((room) => isIn(room, name)))).toEqual([])
})

test('the drawing has arrows of the lint rule alone', () => {
  const [drawing] = /```\n([^]*?)```/.exec(sectionOf('Rooms'))!
  const roomOf = (name: string) =>
    [name, `pipeline/${name}`].find((path) => path in ARROWS) ?? `no room ${name}`
  const drawn = drawing.split('\n').flatMap((line) => {
    const places = line.split('◀──').map((names) => names.split(',').map((name) => name.trim()))
    return places
      .slice(1)
      .flatMap((from, index) =>
        from.flatMap((room) => places[index]!.map((imported) => [roomOf(room), roomOf(imported)] as const)),
      )
  })
  expect(drawn.length).toBeGreaterThan(10)
  expect(drawn.filter(([room, imported]) => !ARROWS[room]?.includes(imported))).toEqual([])
})

test('every change has a file to begin at and a test that tells, which both exist', () => {
  const rows = sectionOf('To change something').match(/^\| .*`.*$/gm)!
  expect(rows.length).toBeGreaterThanOrEqual(15)
  const named = rows.map((row) =>
    row
      .split('|')
      .slice(-3, -1)
      .map((cell) => pathsIn(cell).filter((path) => path.endsWith('.ts'))),
  )
  expect(named.filter(([begin, tests]) => begin!.length === 0 || tests!.length === 0)).toEqual([])
  expect(named.flat(2).filter((path) => !existsSync(`${REPOSITORY}${path}`))).toEqual([])
})
