// Sends answers: under the type and in the coding that the caller takes, and without the body if the caller
// has it already.
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type Koa from 'koa'
import type { Logger } from 'pino'
import type { Answer } from './answer.ts'
import { type Head, ownHeaders } from './answer-head.ts'
import { CODINGS, compressed, tagOfForm } from './compressed.ts'
import { entityTag, isNamedBy } from './entity-tag.ts'
import type { Route } from './route.ts'

/** Converting a longer body to a string costs more than a second write. */
const SHORT_BYTES = 4096
const NOTHING = new Uint8Array()

export function withoutBody(status: 200 | 204 | 304, headers: Record<string, string>): Answer {
  return { status, headers, body: NOTHING }
}

/** Returns the answer to a call in the form that its caller takes. */
export async function inForm(ctx: Koa.Context, spec: Route, made: Answer): Promise<Answer> {
  if (made.stream || spec.method !== 'GET') return withoutKnown(ctx, made)
  const typed = inType(ctx, made, spec)
  const { answer, tag } = await inCoding(ctx, typed, spec)
  answer.headers['ETag'] = tag
  return withoutKnown(ctx, answer)
}

/** Leaves the body out if the caller has it already. */
function withoutKnown(ctx: Koa.Context, answer: Answer): Answer {
  const { ETag: tag, 'Content-Type': _type, ...rest } = answer.headers
  if (tag === undefined || !isNamedBy(ctx.headers['if-none-match'], tag)) return answer
  return withoutBody(304, { ...rest, ETag: tag })
}

/** Returns the answer under the type that the caller asks for, otherwise under the usual one. */
function inType(ctx: Koa.Context, answer: Answer, { success }: Route): Answer {
  const { mediaType, alsoAs } = success
  if (alsoAs === undefined) return answer
  const accepted = ctx.accepts(mediaType!, ...alsoAs)
  const type = accepted === false ? {} : { 'Content-Type': accepted }
  return { ...answer, headers: { ...answer.headers, ...type, Vary: 'Accept' } }
}

/** Returns the answer in the coding that the caller takes, with its entity tag. */
async function inCoding(
  ctx: Koa.Context,
  answer: Answer,
  { compressed: effort }: Route,
): Promise<{ answer: Answer; tag: string }> {
  const tag = entityTag(answer.body)
  if (effort === undefined) return { answer, tag }
  const vary = { Vary: 'Accept-Encoding' }
  const coding = CODINGS.find((each) => ctx.acceptsEncodings(each, 'identity') === each)
  const body = coding && (await compressed(answer.body, coding, effort))
  if (!body) return { answer: { ...answer, headers: { ...answer.headers, ...vary } }, tag }
  const headers = { ...answer.headers, ...vary, 'Content-Encoding': coding }
  return { answer: { ...answer, headers, body }, tag: tagOfForm(tag, coding) }
}

/** Sends an answer behind the first headers of its head. */
export function send(response: ServerResponse, head: Head, answer: Answer, logger: Logger): void {
  const { status, body, stream } = answer
  response.writeHead(status, { ...head, ...ownHeaders(answer) })
  if (stream && response.req.method !== 'HEAD') {
    pipeline(Readable.from(stream(), { objectMode: false }), response).catch((error: unknown) => {
      logger.debug({ err: error }, 'the connection failed while an answer was being sent')
    })
    return
  }
  // Shares the memory: copies would pile up for a client that sends many requests and reads no answers.
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  // Node sends a string and its head in one piece. Each of its characters is a byte.
  if (bytes.length > SHORT_BYTES) response.end(bytes)
  else response.end(bytes.toString('latin1'), 'latin1')
}
