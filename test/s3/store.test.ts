import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { probeStore } from '../../pipeline/store/probe.ts'
import { bucketStore, freshBucket, s3Server } from '../support/buckets.ts'
import { storeContract } from '../support/store-contract.ts'

describe.skipIf(!s3Server)('a bucket of an S3 server', () => {
  let bucket: string
  beforeAll(async () => {
    bucket = await freshBucket()
  })

  storeContract('a prefix of a bucket', () => Promise.resolve(bucketStore(bucket, `some/${randomUUID()}/`)))

  storeContract('a bucket of its own', async () => bucketStore(await freshBucket()))

  test('passes the probe', async () => {
    const store = bucketStore(bucket, 'probed')
    await probeStore(store, randomUUID())
    expect(await Array.fromAsync(store.list(''))).toEqual([])
  })

  test('separates stores whose prefixes begin alike', async () => {
    const store = bucketStore(bucket, 'apart/')
    await bucketStore(bucket, 'apart-2/').put('a', new Uint8Array([1]))
    await store.put('a', new Uint8Array([2, 3]))
    expect(await Array.fromAsync(store.list(''))).toMatchObject([{ path: 'a', sizeBytes: 2 }])
    expect(store.url).toBe(`s3://${bucket}/apart/`)
  })

  test('is unavailable if it does not exist', async () => {
    const absent = `absent-${randomUUID()}`
    const store = bucketStore(absent)
    const message = expect.stringContaining(`there is no bucket "${absent}"`) as string
    const unavailable = { kind: 'unavailable', message }
    await expect(store.get('a')).rejects.toMatchObject(unavailable)
    await expect(store.putIfAbsent('a', new Uint8Array())).rejects.toMatchObject(unavailable)
    await expect(Array.fromAsync(store.list(''))).rejects.toMatchObject(unavailable)
  })
})
