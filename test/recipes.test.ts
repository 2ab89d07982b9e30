// The recipes of CONTRIBUTING.md, carried out: in a copy of the repository each changes the files that it names
// and no other, what it says to run passes, and what it says fails without a step fails.
import { readFileSync, readdirSync } from 'node:fs'
import { cp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, join, matchesGlob } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { RunningCommand } from './support/command.ts'
import { REPOSITORY, textOf } from './support/fenced-blocks.ts'
import { suiteFolder } from './support/folder.ts'
import { column } from './recipes/column.ts'
import { command } from './recipes/command.ts'
import { field } from './recipes/field.ts'
import { importer } from './recipes/importer.ts'
import { metric } from './recipes/metric.ts'
import { problem } from './recipes/problem.ts'
import { type Recipe, write } from './recipes/recipe.ts'
import { releaseFile } from './recipes/release-file.ts'
import { route } from './recipes/route.ts'
import { rule } from './recipes/rule.ts'
import { setting } from './recipes/setting.ts'

const RECIPES: Record<string, Recipe> = {
  'a field': field,
  'a setting': setting,
  'a type of problem': problem,
  'a metric': metric,
  'a column': column,
  'a file of a release': releaseFile,
  'a route': route,
  'an importer': importer,
  'a rule of imported rows': rule,
  'a command': command,
}

/** What stays outside of a copy: packages, what is built, and histories. */
const OUTSIDE = /^(?:node_modules|\.git|dist.*|data|__pycache__)$/
const FILE = /^[\w.-][\w./*-]*\/[\w.-]+\.\w+$/
const TSC = 'npx tsc --noEmit'
const FAILS_WITHOUT = /`([^`]+)` fails without it/g

interface Step {
  /** The files that it names. */
  files: string[]
  commands: string[]
  /** What fails without it: `tsc`, or a file of tests. */
  held: string[]
}

/** The steps of the recipe under a heading, with the names of its example. */
function stepsOf(heading: string, names: Record<string, string>): Step[] {
  const section = textOf('CONTRIBUTING.md').split(`\n## Add ${heading}\n`)[1]!.split('\n## ')[0]!
  const named = section.replaceAll(/<(\w+)>/g, (_, name: string) => names[name] ?? `<${name}>`)
  return named.split(/\n(?=\d\. |\n)/).map((text) => {
    const spans = (of: string) =>
      Array.from(of.replaceAll(/\s+/g, ' ').matchAll(/`([^`]+)`/g), ([, span]) => span!)
    return {
      files: spans(text.replaceAll(FAILS_WITHOUT, '')).filter((span) => FILE.test(span)),
      commands: spans(text).filter((span) => /^(?:npm|npx) /.test(span)),
      held: Array.from(text.matchAll(FAILS_WITHOUT), ([, what]) => what!),
    }
  })
}

/** One copy for all recipes, so that each compiles only what it changes. */
const folder = await suiteFolder()
const untouched = new Map<string, Buffer>()
beforeAll(async () => {
  await cp(REPOSITORY, folder, { recursive: true, filter: (path) => !OUTSIDE.test(basename(path)) })
  await symlink(await realpath(join(REPOSITORY, 'node_modules')), join(folder, 'node_modules'))
  for (const path of pathsIn(folder)) untouched.set(path, readFileSync(join(folder, path)))
})
afterEach(async () => {
  for (const path of differing()) await restore(path)
})

describe.each(Object.entries(RECIPES))('the recipe for %s', (heading, { names = {}, files }) => {
  test('changes the files that it names, and what it says to run passes', async () => {
    const steps = stepsOf(heading, names)
    await writeAll(files)
    for (const line of steps.flatMap(({ commands }) => commands)) await expectPasses(line)
    const named = steps.flatMap((step) => step.files)
    const changed = differing()
    expect(changed.filter((path) => !named.some((one) => matchesGlob(path, one)))).toEqual([])
    expect(named.filter((one) => !changed.some((path) => matchesGlob(path, one)))).toEqual([])

    for (const { files: own, held } of steps) {
      for (const what of held) {
        const written = await Promise.all(own.map((path) => readFile(join(folder, path))))
        for (const path of own) await restore(path)
        const line = what === 'tsc' ? TSC : `npx vitest run ${what}`
        expect((await run(line)).code, `${line}, without ${own.join(' and ')}`).not.toBe(0)
        for (const [index, path] of own.entries()) await writeFile(join(folder, path), written[index]!)
      }
    }
  })
})

test('all of them together compile', async () => {
  for (const { files } of Object.values(RECIPES)) await writeAll(files)
  await expectPasses(TSC)
})

async function writeAll(files: Recipe['files']): Promise<void> {
  for (const [path, wanted] of Object.entries(files)) await write(folder, path, wanted)
}

async function expectPasses(line: string): Promise<void> {
  const { code, stdout, stderr } = await run(line)
  expect(code, `${line}\n${stdout}${stderr}`).toBe(0)
}

/** Runs a line of the page in the copy, by its packages and without the settings of this run. */
function run(line: string) {
  const ours = Object.keys(process.env).filter((name) => /^(?:VITEST|TEST_REPORT)/.test(name))
  return new RunningCommand('sh', ['-c', line.replace(/^npx /, '')], {
    cwd: folder,
    env: {
      ...Object.fromEntries(ours.map((name) => [name, undefined])),
      PATH: `${join(folder, 'node_modules/.bin')}:${process.env['PATH']}`,
    },
  }).ended
}

/** The paths of all files in a folder, but for what stays outside. */
function pathsIn(root: string, under = ''): string[] {
  return readdirSync(join(root, under), { withFileTypes: true })
    .filter(({ name }) => !OUTSIDE.test(name))
    .flatMap((entry) => {
      const path = join(under, entry.name)
      return entry.isDirectory() ? pathsIn(root, path) : [path]
    })
}

/** The files of the copy that a recipe has changed or made. */
const differing = () =>
  pathsIn(folder).filter((path) => !untouched.get(path)?.equals(readFileSync(join(folder, path))))

/** Makes a file what it was before the recipe. */
async function restore(path: string): Promise<void> {
  const text = untouched.get(path)
  if (text === undefined) await rm(join(folder, path))
  else await writeFile(join(folder, path), text)
}
