// An HTTP server on loopback that supports the part of S3 that the store uses, and misbehaves where a test
// wants it to.
import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { sha256Hex } from '../../../pipeline/proof/canonical.ts'

export interface S3Request {
  method: string
  /** The bucket and the object's path, as in `/bucket/path`. */
  path: string
  ifNoneMatch: string | undefined
  /** What the signature says of the body. */
  contentSha256: string | undefined
  body: Uint8Array
}

export interface S3Answer {
  status: number
  headers?: Record<string, string>
  body?: Uint8Array | string
  /** Sends only this many bytes of the body, and then falls silent or hangs up. */
  cut?: { afterBytes: number; ending: 'silence' | 'hang up' }
}

/** Answers a request. `obey` does what S3 would do; the result `silence` means no answer at all. */
export type S3Behaviour = (request: S3Request, obey: () => S3Answer) => S3Answer | 'silence'

export interface LoopbackS3 {
  endpoint: string
  objects: Map<string, Uint8Array>
  /** The time of each object's last write, as in listings. Deleting an entry makes listings leave it out. */
  modifiedAt: Map<string, Date>
  requests: S3Request[]
}

/** Runs until the test ends. It hangs up in the middle of the bodies of its first `cuts` writes. */
export async function loopbackS3(behave: S3Behaviour = (_, obey) => obey(), cuts = 0): Promise<LoopbackS3> {
  const objects = new Map<string, Uint8Array>()
  const modifiedAt = new Map<string, Date>()
  const requests: S3Request[] = []
  let left = cuts
  const take = async (message: IncomingMessage, response: ServerResponse) => {
    if (message.method === 'PUT' && left > 0) {
      left -= 1
      await once(message, 'data')
      message.destroy()
      return
    }
    const request = await readRequest(message)
    requests.push(request)
    const answer = behave(request, () => answerAsS3({ objects, modifiedAt }, request, message))
    if (answer !== 'silence') send(response, answer)
  }
  const server = createServer((message, response) => void take(message, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  return { endpoint: `http://127.0.0.1:${port}`, objects, modifiedAt, requests }
}

export function s3Error(status: number, code: string): S3Answer {
  return {
    status,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>as the test wants</Message></Error>`,
  }
}

async function readRequest(message: IncomingMessage): Promise<S3Request> {
  return {
    method: message.method ?? '',
    path: decodeURIComponent(new URL(message.url ?? '', 'http://host').pathname),
    ifNoneMatch: message.headers['if-none-match'],
    contentSha256: message.headers['x-amz-content-sha256'] as string | undefined,
    body: Uint8Array.from(Buffer.concat(await message.toArray())),
  }
}

type Bucket = Pick<LoopbackS3, 'objects' | 'modifiedAt'>

function answerAsS3(stored: Bucket, request: S3Request, message: IncomingMessage): S3Answer {
  const { method, path, ifNoneMatch, contentSha256, body } = request
  const { objects, modifiedAt } = stored
  const object = objects.get(path)
  const query = new URL(message.url ?? '', 'http://host').searchParams
  if (method === 'GET' && query.get('list-type') === '2') return listing(stored, path, query)
  if (method === 'PUT') {
    if (contentSha256 !== sha256Hex(body)) return s3Error(400, 'XAmzContentSHA256Mismatch')
    if (ifNoneMatch === '*' && object) return s3Error(412, 'PreconditionFailed')
    objects.set(path, body)
    modifiedAt.set(path, new Date())
    return { status: 200, headers: { etag: '"0"' } }
  }
  if (method === 'DELETE') {
    objects.delete(path)
    return { status: 204 }
  }
  if (!object) return s3Error(404, 'NoSuchKey')
  const range = /^bytes=(\d+)-(\d+)$/.exec(message.headers.range ?? '')
  if (!range) return { status: 200, body: object }
  const part = object.slice(Number(range[1]), Number(range[2]) + 1)
  return part.length === 0 ? s3Error(416, 'InvalidRange') : { status: 206, body: part }
}

function listing({ objects, modifiedAt }: Bucket, bucketPath: string, query: URLSearchParams): S3Answer {
  const bucket = `${bucketPath.replace(/\/$/, '')}/`
  const found = [...objects]
    .map(([name, bytes]) => ({
      path: name.slice(bucket.length),
      size: bytes.byteLength,
      modified: modifiedAt.get(name),
    }))
    .filter(
      ({ path }) => path.startsWith(query.get('prefix') ?? '') && path > (query.get('start-after') ?? ''),
    )
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, size, modified }) => {
      const lastModified = modified ? `<LastModified>${modified.toISOString()}</LastModified>` : ''
      return `<Contents><Key>${path}</Key>${lastModified}<Size>${size}</Size></Contents>`
    })
  return {
    status: 200,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>${found.join('')}</ListBucketResult>`,
  }
}

function send(response: ServerResponse, { status, headers, body = '', cut }: S3Answer): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const length = status === 204 ? {} : { 'content-length': String(bytes.byteLength) }
  response.writeHead(status, { ...headers, ...length })
  if (!cut) {
    response.end(bytes)
    return
  }
  response.write(bytes.subarray(0, cut.afterBytes), () => {
    if (cut.ending === 'hang up') response.destroy()
  })
}
