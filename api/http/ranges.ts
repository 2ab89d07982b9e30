// Answers with a file or a part of it (RFC 9110, 14): `Range`, `If-Range`, and the digests of RFC 9530.
import { base64Of } from '../../pipeline/proof/base64.ts'
import { callsOfBytes } from '../limits/page-calls.ts'
import { CROSS_ORIGIN_HEADERS } from './answer-head.ts'
import { isNamedBy } from './entity-tag.ts'
import { HttpError } from './problems.ts'
import type { Reply, RouteRequest } from './route.ts'

/** The headers that a reader in a web page may see. */
const EXPOSED = `Accept-Ranges, Content-Range, ${CROSS_ORIGIN_HEADERS['Access-Control-Expose-Headers']}`

export interface SentFile {
  sizeBytes: number
  sha256: string
  /** Its Content-Type and Cache-Control. */
  headers: Record<string, string>
  /** Yields the bytes from `start` up to `end`. */
  read: (start: number, end: number) => AsyncIterable<Uint8Array>
}

type FileRequest = Pick<RouteRequest<unknown, unknown, unknown, 'none'>, 'header' | 'isHead' | 'asker'>

/**
 * Replies with a file, or with the range that the request asks for. It reads the first piece before it
 * replies, so that a failure of the store is still a problem.
 *
 * @throws HttpError for a range that begins after the end. @throws ServiceError `limited` where the caller
 *   has fewer calls left than the bytes take.
 */
export async function fileReply({ header, isHead, asker }: FileRequest, file: SentFile): Promise<Reply> {
  const { sizeBytes, sha256 } = file
  const tag = `"${sha256}"`
  const digest = `sha-256=:${base64Of(Buffer.from(sha256, 'hex'))}:`
  const headers = {
    ...file.headers,
    ETag: tag,
    'Accept-Ranges': 'bytes',
    'Repr-Digest': digest,
    'Access-Control-Expose-Headers': EXPOSED,
  }
  const whole = { start: 0, end: sizeBytes }
  const isPart = !isHead && [undefined, tag].includes(header('if-range'))
  const range = (isPart && rangeIn(header('range'), sizeBytes)) || whole
  const length = range.end - range.start
  const isSent = !isHead && !isNamedBy(header('if-none-match'), tag)
  if (isSent) await asker.countMore(callsOfBytes(length) - 1)
  const stream = isSent ? await begun(file.read(range.start, range.end)) : noBytes
  const own = { ...headers, 'Content-Length': String(length) }
  const body = new Uint8Array()
  if (range === whole) return { body, stream, headers: { ...own, 'Content-Digest': digest } }
  const part = `bytes ${range.start}-${range.end - 1}/${sizeBytes}`
  return { status: 206, body, stream, headers: { ...own, 'Content-Range': part } }
}

interface ByteRange {
  start: number
  end: number
}

/**
 * Returns the bytes that a `Range` asks for; undefined for several ranges, which are answered by the whole,
 * and for whatever else is no range of bytes.
 */
function rangeIn(header: string | undefined, sizeBytes: number): ByteRange | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? '') ?? []
  if (first === undefined || last === undefined || first + last === '') return undefined
  const start = first === '' ? Math.max(0, sizeBytes - Number(last)) : Number(first)
  const end = first === '' || last === '' ? sizeBytes : Math.min(Number(last) + 1, sizeBytes)
  if (last !== '' && first !== '' && Number(last) < Number(first)) return undefined
  if (start < end) return { start, end }
  throw new HttpError('range-not-satisfiable', `${header} begins after the last of ${sizeBytes} bytes`, {
    'Content-Range': `bytes */${sizeBytes}`,
  })
}

/** Reads the first piece, and returns a way to send all of them. */
export async function begun<T>(pieces: AsyncIterable<T>): Promise<() => AsyncIterable<T>> {
  const rest = pieces[Symbol.asyncIterator]()
  const first = await rest.next()
  return async function* () {
    try {
      for (let piece = first; !piece.done; piece = await rest.next()) yield piece.value
    } finally {
      await rest.return?.()
    }
  }
}

export async function* noBytes(): AsyncIterable<never> {}
