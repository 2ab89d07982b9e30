// Archives that lie: none fills a disk, and no path of theirs becomes a path here.
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { isZip, unzip } from '../../pipeline/import/unzip.ts'
import { testFolder } from '../support/folder.ts'
import { type ZipLies, zipOf } from '../support/zip.ts'

async function unpacked(members: Record<string, string | Uint8Array>, lies: ZipLies = {}, mostBytes = 1_000) {
  const folder = await testFolder()
  const archive = join(folder, 'a.zip')
  await writeFile(archive, zipOf(members, lies))
  return { folder, members: unzip(archive, folder, ['.csv'], mostBytes) }
}

test('the members of the wanted endings are copied, in order, whatever their folders and letters', async () => {
  const { members } = await unpacked({ 'x/a.csv': 'one', 'README.md': 'two', 'B.CSV': 'three' })
  const found = await members
  expect(found.map(({ name }) => name)).toEqual(['a.csv', 'B.CSV'])
  expect(found.map(({ path }) => basename(path))).toEqual(['member-0.csv', 'member-1.csv'])
  expect(await readFile(found[1]!.path, 'utf8')).toBe('three')
})

test('a file is an archive by its first bytes', async () => {
  const folder = await testFolder()
  await writeFile(join(folder, 'a'), zipOf({ 'a.csv': '' }))
  await writeFile(join(folder, 'b'), 'PK, a text')
  await writeFile(join(folder, 'c'), '')
  expect(await Promise.all(['a', 'b', 'c'].map((name) => isZip(join(folder, name))))).toEqual([
    true,
    false,
    false,
  ])
})

const MANY = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`${index}.csv`, 'a']))
test.each<[string, Record<string, string | Uint8Array>, ZipLies, RegExp]>([
  [
    'a member that is larger than it may be',
    { 'a.csv': 'a'.repeat(1_001) },
    {},
    /holds more than 1,000 bytes/,
  ],
  [
    'members that are larger together',
    { 'a.csv': 'a'.repeat(600), 'b.csv': 'a'.repeat(600) },
    {},
    /holds more than 400 bytes/,
  ],
  ['a member larger than it says', { 'a.csv': 'a'.repeat(1_001) }, { sizeBytes: 10 }, /too many bytes/],
  ['a member smaller than it says', { 'a.csv': 'a'.repeat(10) }, { sizeBytes: 100 }, /not enough bytes/],
  ['a path out of its folder', { '../../a.csv': 'a' }, {}, /invalid relative path/],
  ['an absolute path', { '/etc/a.csv': 'a' }, {}, /absolute path/],
  ['too many members', MANY, {}, /has 1001 members, more than 1000/],
  ['members that are not there', { 'a.csv': 'a' }, { members: 3 }, /cannot be unpacked/],
])('%s is refused', async (_, content, lies, message) => {
  const { folder, members } = await unpacked(content, lies)
  await expect(members).rejects.toThrow(message)
  await expect(members).rejects.toMatchObject({ kind: 'invalid' })
  const left = await readdir(folder)
  expect(left.every((name) => name === 'a.zip' || /^member-\d+\.csv$/.test(name))).toBe(true)
})
