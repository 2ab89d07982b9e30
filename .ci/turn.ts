// The test files beyond `npm test` that a run of CI takes. Of those that take long it takes a fifth, chosen
// by the hash of the commit, and all that test a room that the commit changes or a room that imports a changed
// file.
//
// node .ci/turn.ts [BASE]    prints them; the commit's changes are those since BASE, by default since its
// parent
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ARROWS } from '../oxlint.config.ts'
import { BY_TURNS, OUTSIDE, SYSTEM, filesIn } from '../test/suites.ts'

export const PARTS = 5

/** The rooms that tests cover which do not mirror the sources, by the name of their file or folder. */
const TESTED: Record<string, readonly string[]> = {
  api: ['api/routes'],
  delta: ['pipeline/tables'],
  faults: ['pipeline/store', 'pipeline/tables'],
  openapi: ['api/openapi', 'api/routes', 'clients/typescript'],
  pages: ['api/pages'],
  'recipes.test.ts': ['schemas'],
  spark: ['pipeline/engine', 'pipeline/release'],
  stage: ['pipeline/engine', 'pipeline/release'],
}

/** The room that a source file lies in: the longest name in the list of rooms that its path begins with. */
export function roomOf(path: string): string | undefined {
  const isIn = (room: string) => path === room || path.startsWith(`${room.replace(/\*$/, '')}/`)
  return Object.keys(ARROWS)
    .filter(isIn)
    .toSorted((a, b) => b.length - a.length)[0]
}

/** The rooms that a test file tests. */
export function testedBy(file: string): readonly string[] {
  const own = file.replace(/^test\//, '')
  const room = roomOf(own) ?? roomOf(`pipeline/${own}`)
  return TESTED[own] ?? TESTED[dirname(own)] ?? (room === undefined ? [] : [room])
}

/** The files that take long, in the order in which they are dealt. */
export const LONG = [...new Set(BY_TURNS.flatMap((pattern) => filesIn([pattern])))]

/** The files of a part, each fifth one, so that the files of a suite come in different parts. */
export function partOf(files: readonly string[], part: number): string[] {
  return files.filter((_, at) => at % PARTS === part)
}

/** The changed rooms, and those with a file that imports a changed file. */
export function concernedBy(changed: readonly string[]): Set<string> {
  const sources = filesIn(['{schemas,pipeline,api,jobs,clients}/**/*.ts'])
  const importers = sources.filter((path) => importedBy(path).some((imported) => changed.includes(imported)))
  return new Set([...changed, ...importers].flatMap((path) => roomOf(path) ?? []))
}

function importedBy(path: string): string[] {
  const imports = readFileSync(path, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)
  return [...imports].map(([, to = '']) => join(path, '..', to))
}

/**
 * The files of a run: those of every run, a part of those that take long, and those that the changes concern.
 */
export function filesOf(part: number, changed: readonly string[]): string[] {
  const concerned = concernedBy(changed)
  const always = filesIn([...SYSTEM, ...Object.values(OUTSIDE)]).filter((file) => !LONG.includes(file))
  const own = LONG.filter(
    (file) => changed.includes(file) || testedBy(file).some((room) => concerned.has(room)),
  )
  return [...new Set([...always, ...partOf(LONG, part), ...own])].sort()
}

const git = (...words: string[]) => execFileSync('git', words, { encoding: 'utf8' }).trim()

/** The paths that were changed since a commit: all of them if the clone does not reach back to it. */
function changedSince(base: string): string[] {
  try {
    git('rev-parse', '--quiet', '--verify', `${base}^{commit}`)
  } catch {
    process.stderr.write(`the clone has no ${base}, so that everything counts as changed\n`)
    return git('ls-files').split('\n')
  }
  return git('diff', '--name-only', base, 'HEAD').split('\n')
}

if (import.meta.main) {
  const part = Number.parseInt(git('rev-parse', 'HEAD').slice(0, 8), 16) % PARTS
  const changed = changedSince(process.argv[2] ?? 'HEAD~1')
  const rooms = [...concernedBy(changed)].join(', ') || 'no room'
  process.stderr.write(`part ${part + 1} of ${PARTS}; the changes concern ${rooms}\n`)
  process.stdout.write(`${filesOf(part, changed).join('\n')}\n`)
}
