import { access, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { FileStore } from '../../pipeline/store/file.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { openStore } from '../../pipeline/store/open.ts'
import { S3Store } from '../../pipeline/store/s3.ts'
import { testFolder } from '../support/folder.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('openStore', () => {
  test('takes a path, relative or absolute, and a file URL, as a directory', async () => {
    const folder = await testFolder()
    const url = pathToFileURL(folder).href
    for (const name of [folder, url, `${folder}/`, relative(process.cwd(), folder)]) {
      const store = await openStore({ url: name }, 'begin')
      expect(store).toBeInstanceOf(FileStore)
      expect(store.localPath('a/b')).toBe(join(folder, 'a', 'b'))
    }
  })

  test('takes a directory with a space or a percent sign in its name', async () => {
    const folder = join(await testFolder(), 'a b', '100%')
    for (const name of [folder, pathToFileURL(folder).href]) {
      expect((await openStore({ url: name }, 'begin')).localPath('c')).toBe(join(folder, 'c'))
    }
  })

  test('begins a store in a directory only where that is allowed, and says where there is none', async () => {
    const folder = join(await testFolder(), 'yet', 'to', 'be', 'made')
    await expect(openStore({ url: folder }, 'fail')).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining(`there is no store in ${folder}: `) as string,
    })
    expect(await openStore({ url: folder }, 'imagine')).toBeInstanceOf(MemoryStore)
    await expect(access(folder)).rejects.toThrow('ENOENT')
    const begun = await openStore({ url: folder }, 'begin')
    expect(begun).toMatchObject({ isNew: true })
    expect((await stat(folder)).mode & 0o007, 'other users see nothing').toBe(0)
    expect(await openStore({ url: folder }, 'begin')).toMatchObject({ isNew: false })
    await begun.put('a', new Uint8Array([1]))
    const opened = await openStore({ url: folder }, 'fail')
    expect(opened).toMatchObject({ isNew: false })
    expect(await opened.get('a')).toEqual(Buffer.from([1]))
    expect(await openStore({ url: folder }, 'imagine')).toBeInstanceOf(FileStore)
  })

  test.runIf(process.platform === 'linux')('ends where no directory can be made', async () => {
    await expect(openStore({ url: '/proc/no/store' }, 'begin')).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'the store could not begin /proc/no/store (ENOENT)',
    })
  })

  test('says what a bucket lacks: a region, and credentials', async () => {
    const nothing = ['REGION', 'DEFAULT_REGION', 'ACCESS_KEY_ID', 'SECRET_ACCESS_KEY', 'PROFILE']
    for (const name of nothing) vi.stubEnv(`AWS_${name}`, undefined)
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
    for (const name of ['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE']) vi.stubEnv(name, '/dev/null')
    const read = async () => (await openStore({ url: 's3://bucket' }, 'fail')).get('a')
    await expect(read()).rejects.toThrow('the store did not answer for a (no region is set: set AWS_REGION)')
    vi.stubEnv('AWS_REGION', 'us-east-1')
    await expect(read()).rejects.toThrow(/\(no credentials are set: set AWS_ACCESS_KEY_ID and AWS_SECRET/)
  })

  test.for([
    ['s3://bucket', 's3://bucket/'],
    ['s3://bucket/', 's3://bucket/'],
    ['s3://bucket/some/prefix', 's3://bucket/some/prefix/'],
    ['s3://bucket/some/prefix/', 's3://bucket/some/prefix/'],
  ])('takes %s as a bucket', async ([url, opened]) => {
    const store = await openStore({ url: url! }, 'begin')
    expect(store).toBeInstanceOf(S3Store)
    expect(store.url).toBe(opened)
    expect(store.localPath('x')).toBeUndefined()
  })

  test.for([
    '',
    ' ',
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
  ])('refuses %s and says what was wrong', async (url) => {
    await expect(openStore({ url }, 'begin')).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(/^not a /) as string,
    })
  })
})
