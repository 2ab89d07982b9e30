// The list of kinds of files: every file of a release is of one kind, and its place says who may read it.
import { expect, test } from 'vitest'
import { FILE_KINDS, isSigned } from '../../../pipeline/release/files/kinds.ts'
import { readManifest } from '../../../pipeline/release/read.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { isPublished, releasePrefix } from '../../../pipeline/store/paths.ts'
import { textOf } from '../../support/fenced-blocks.ts'
import { suiteFolder } from '../../support/folder.ts'
import { Clock, testComponents } from '../../support/http/service.ts'
import { releasePageWorld } from '../../support/worlds/page-world.ts'
import { NOW } from '../../support/worlds/world.ts'

const folder = await suiteFolder()
const store = new MemoryStore()
await releasePageWorld(await testComponents({ store, folder, clock: new Clock(NOW) }))
const { files } = (await readManifest(store, 1))!

test('every file of a release is of exactly one kind, and every kind has a file', () => {
  const isOf = (places: readonly string[], path: string) => places.some((place) => path.startsWith(place))
  for (const { path } of files) {
    expect(
      FILE_KINDS.filter(({ places }) => isOf(places, path)),
      path,
    ).toHaveLength(1)
  }
  for (const { name, places } of FILE_KINDS) {
    for (const place of places)
      expect(
        files.filter(({ path }) => path.startsWith(place)),
        name,
      ).not.toEqual([])
  }
})

test('a file in a folder is published, and only the tree of forecasts lies beside the manifest', () => {
  for (const { name, places } of FILE_KINDS) {
    for (const place of places) expect(isPublished(place), place).toBe(name !== 'tree of forecasts')
  }
})

test('docs/data.md has a line for each place', () => {
  const paths = Array.from(textOf('docs/data.md').matchAll(/^\| (`releases\/.*?) +\|/gm), ([, path]) => path!)
  const missing = FILE_KINDS.flatMap(({ places }) => places).filter(
    (place) => !paths.some((path) => path.includes(`/${place}`) || path.includes(`…/${place}`)),
  )
  expect(missing).toEqual([])
})

test('exactly the kinds that say so have payloads with signatures', async () => {
  for (const { path } of files.filter(({ path: at }) => at.endsWith('.json'))) {
    const text = Buffer.from((await store.get(releasePrefix(1) + path))!).toString()
    expect(text.includes('"signature":'), path).toBe(isSigned(path))
  }
})
