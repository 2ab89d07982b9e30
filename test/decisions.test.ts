// The decisions: each is short and in the index, and whatever refers to one refers to one that there is.
import { globSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { REPOSITORY, textOf } from './support/fenced-blocks.ts'

const names = readdirSync(`${REPOSITORY}docs/decisions`).filter((name) => name !== 'README.md')

test('the index names each decision once', () => {
  const listed = [...textOf('docs/decisions/README.md').matchAll(/^- \[(\d{4})\]\((.*?)\)/gm)]
  expect(listed.map(([, , name]) => name!).toSorted()).toEqual(names.toSorted())
  expect(listed.filter(([, number, name]) => !name!.startsWith(`${number}-`))).toEqual([])
})

test.each(names)('%s says what was decided, why, and what it costs, in 300 words', (name) => {
  const text = textOf(`docs/decisions/${name}`)
  expect(text).toMatch(
    new RegExp(String.raw`^# ${name.slice(0, 4)} .*\n\n[^]*\*\*Why\.\*\* [^]*\*\*Cost\.\*\* `),
  )
  expect(text.split(/\s+/).length).toBeLessThanOrEqual(301)
})

test('every decision that anything refers to exists', () => {
  const files = globSync(
    '{*,{schemas,pipeline,api,jobs,clients,deploy,examples,bench,docs,test}/**/*}.{md,ts,js,json,py,sh}',
    {
      cwd: REPOSITORY,
      exclude: (path) => path === 'node_modules',
    },
  )
  const unknown = files.flatMap((path) =>
    Array.from(textOf(path).matchAll(/decisions?[/ ](\d{4}(?:-[\w-]+\.md)?)/g), ([, name]) => name!)
      .filter((name) => !names.some((one) => one.startsWith(name)))
      .map((name) => `${path}: ${name}`),
  )
  expect(files.length).toBeGreaterThan(1000)
  expect(unknown).toEqual([])
})
