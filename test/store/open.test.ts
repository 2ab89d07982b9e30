import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { FileStore } from '../../pipeline/store/file.ts'
import { openStore } from '../../pipeline/store/open.ts'
import { S3Store } from '../../pipeline/store/s3.ts'
import { testFolder } from '../support/folder.ts'

describe('openStore', () => {
  test('takes a path, relative or absolute, and a file URL, as a directory', async () => {
    const folder = await testFolder()
    const url = pathToFileURL(folder).href
    for (const name of [folder, url, `${folder}/`]) {
      const store = openStore({ url: name })
      expect(store).toBeInstanceOf(FileStore)
      expect(store.localPath!('a/b')).toBe(join(folder, 'a', 'b'))
    }
    expect(openStore({ url: './data' }).localPath!('a')).toBe(join(process.cwd(), 'data', 'a'))
  })

  test('takes a directory with a space or a percent sign in its name', () => {
    expect(openStore({ url: 'file:///a%20b/100%25' }).localPath!('c')).toBe('/a b/100%/c')
    expect(openStore({ url: '/a b/100%' }).localPath!('c')).toBe('/a b/100%/c')
  })

  test.for([
    ['s3://bucket', 's3://bucket/'],
    ['s3://bucket/', 's3://bucket/'],
    ['s3://bucket/some/prefix', 's3://bucket/some/prefix/'],
    ['s3://bucket/some/prefix/', 's3://bucket/some/prefix/'],
  ])('takes %s as a bucket', ([url, opened]) => {
    const store = openStore({ url: url! })
    expect(store).toBeInstanceOf(S3Store)
    expect(store.url).toBe(opened)
    expect(store).not.toHaveProperty('localPath')
  })

  test.for([
    'http://bucket/prefix',
    'gs://bucket',
    's3:bucket',
    's3://',
    's3:///prefix',
    's3://bucket/a//b',
    's3://bucket/.hidden',
    's3://bucket/a b',
    'file://host/folder',
    'memory:',
  ])('refuses %s and says what was wrong', (url) => {
    expect(() => openStore({ url })).toThrow(
      expect.objectContaining({ kind: 'invalid', message: expect.stringMatching(/^not a /) as string }),
    )
  })
})
