// New buckets on the S3 server in the environment variables. test/support/s3-server.sh starts one.
import { randomUUID } from 'node:crypto'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { S3Store } from '../../pipeline/store/s3.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { external } from './external.ts'

/** Undefined without a server: `describe.skipIf(!s3Server)`. */
export const s3Server = external(
  ['S3_ENDPOINT', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_REGION'],
  'these tests need an S3 server; `test/support/s3-server.sh start DIR` prints what to export',
)

/**
 * A new, empty bucket. Nothing removes it: the server keeps its objects in memory and ends after the tests.
 */
export async function freshBucket(): Promise<string> {
  const bucket = `test-${randomUUID()}`
  const client = new S3Client({ endpoint: endpoint(), forcePathStyle: true })
  try {
    await client.send(new CreateBucketCommand({ Bucket: bucket }))
  } finally {
    client.destroy()
  }
  return bucket
}

/** A store under a prefix of a bucket; the prefix ends in a slash, or is empty. */
export function bucketStore(bucket: string, prefix = ''): Store {
  return new S3Store({ bucket, prefix, endpoint: endpoint() })
}

function endpoint(): string {
  if (!s3Server) throw new Error('no S3 server: this test should have been skipped')
  return s3Server.S3_ENDPOINT
}
