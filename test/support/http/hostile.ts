// Hostile requests made from good ones: most parts stay right, and some get the worst value there is.
import fc from 'fast-check'
import {
  HEADER_NAMES,
  HEADER_VALUES,
  LITERALS,
  METHODS,
  PATH_PARTS,
  QUERIES,
  TARGETS,
} from './hostile-values.ts'
import type { RawRequest } from './raw-http.ts'

/** A good request to start from. */
export interface GoodRequest {
  method: string
  path: string
  headers: readonly (readonly [string, string])[]
  /** The fields of a JSON body; undefined for a call without a body. */
  body: Record<string, unknown> | undefined
}

export interface HostileRequest extends RawRequest {
  /** Why a call that reads the body must fail; undefined if it may succeed. */
  mustFail: string | undefined
}

const either = <T>(right: T, wrong: fc.Arbitrary<T>, tenths: number): fc.Arbitrary<T> =>
  fc.oneof({ weight: 10 - tenths, arbitrary: fc.constant(right) }, { weight: tenths, arbitrary: wrong })

const unicode = fc.string({ unit: 'binary', maxLength: 40 })
/** Text without line ends. */
const headerText = fc.string({ maxLength: 40 }).map((text) => text.replaceAll(/[\r\n]/g, ''))

/** Some of the requests have `secrets` where they do not belong. */
export function hostileRequests(good: GoodRequest, secrets: readonly string[]): fc.Arbitrary<HostileRequest> {
  return fc
    .record({
      method: either(good.method, fc.constantFrom(...METHODS), 1),
      target: either(good.path, targets(good.path, secrets), 3),
      query: either('', queries(secrets), 2),
      added: either([], addedHeaders(good, secrets), 3),
      dropped: either(-1, fc.nat(good.headers.length), 1),
      body: good.body === undefined ? either(NO_BODY, anyBytes, 1) : bodies(good.body, secrets),
      version: either('HTTP/1.1', fc.constantFrom('HTTP/1.0', 'HTTP/1.1 ', 'HTTP/2.0', 'HTTP/0.9', ''), 1),
      lengthError: either(0, fc.constantFrom(-1, 1, 10, -1_000_000), 1),
    })
    .map(({ method, target, query, added, dropped, body, version, lengthError }) => {
      const length = Math.max(0, body.bytes.length + lengthError)
      const kept = good.headers.filter((_header, index) => index !== dropped)
      const measured: Header[] = body === NO_BODY ? [] : [['Content-Length', String(length)]]
      const headers = [...kept, ...measured, ...added, ['Connection', 'close'] as const]
      // A call without a body has all that it needs, and what follows belongs to no call.
      const isEnough = good.body === undefined && (length === 0 || body === NO_BODY)
      // Otherwise the service would wait for bytes that were announced and never come.
      const hangsUp = length > body.bytes.length
      return {
        method,
        target: target + query,
        headers,
        body: body.bytes,
        version,
        hangsUp,
        mustFail: isEnough ? undefined : lengthError === 0 ? body.mustFail : 'a wrong length',
      }
    })
}

function targets(path: string, secrets: readonly string[]): fc.Arbitrary<string> {
  const part = fc.oneof(
    fc.constantFrom(...PATH_PARTS, ...secrets),
    unicode.map((text) => encodeURIComponent(text.toWellFormed())),
  )
  const parts = path.split('/')
  const replaced = fc
    .tuple(fc.integer({ min: 1, max: parts.length - 1 }), part)
    .map(([index, nasty]) => parts.with(index, nasty).join('/'))
  const disguised = [
    `/sandbox${path}`,
    `/${path}`,
    `${path}/`,
    path.toUpperCase(),
    `http://x${path}`,
    `${path}#x`,
  ]
  return fc.oneof(
    replaced,
    part.map((nasty) => `${path}/${nasty}`),
    part.map((nasty) => `/${nasty}${path}`),
    fc.constantFrom(...disguised, ...TARGETS),
  )
}

function queries(secrets: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom(...QUERIES, ...secrets.map((secret) => `?x=${secret}`)),
    unicode.map((text) => `?${encodeURI(text.toWellFormed())}`),
  )
}

type Header = readonly [name: string, value: string]

function addedHeaders(good: GoodRequest, secrets: readonly string[]): fc.Arbitrary<Header[]> {
  const name = fc.oneof(fc.constantFrom(...HEADER_NAMES), headerText)
  const value = fc.oneof(fc.constantFrom(...HEADER_VALUES, ...secrets), headerText)
  const sentTwice = fc.constantFrom(...good.headers)
  return fc.array(fc.oneof(fc.tuple(name, value), sentTwice), { minLength: 1, maxLength: 4 })
}

interface Body {
  bytes: Buffer
  mustFail: string | undefined
}
const NO_BODY: Body = { bytes: Buffer.alloc(0), mustFail: undefined }

const anyBytes: fc.Arbitrary<Body> = fc.oneof(
  fc
    .uint8Array({ minLength: 1, maxLength: 200 })
    .map((bytes) => ({ bytes: Buffer.from(bytes), mustFail: 'random bytes' })),
  // A call that needs no body takes an empty object too.
  fc
    .json({ maxDepth: 4 })
    .filter((text) => text !== '{}')
    .map((text) => ({ bytes: Buffer.from(text), mustFail: 'random JSON' })),
)

type Field = readonly [name: string, literal: string]

/**
 * JSON with the fields of a good body, of which some are changed, added or repeated, in various encodings.
 */
function bodies(good: Record<string, unknown>, secrets: readonly string[]): fc.Arbitrary<Body> {
  const right = Object.entries(good).map(([name, value]): Field => [name, JSON.stringify(value)])
  const literal = fc.oneof(
    fc.constantFrom(...LITERALS, ...secrets.map((secret) => JSON.stringify(secret))),
    unicode.map((text) => JSON.stringify(text)),
    fc.double().map(String),
  )
  const changed = right.map(([name, value]) => either(value, literal, 2).map((text): Field => [name, text]))
  const strange = fc.tuple(fc.constantFrom('__proto__', 'constructor', 'x', '', '🦄'), literal)
  const one = (field: fc.Arbitrary<Field>) => either<Field[]>([], fc.tuple(field), 2)
  const coding = either('utf8', fc.constantFrom('byte order mark', 'utf16le', 'latin1', 'half'), 2)
  const coded = fc
    .tuple(fc.tuple(...changed), one(strange), one(fc.constantFrom(...right)), coding)
    .map(([fields, unknown, repeated, chosen]): Body => {
      const all = [...fields, ...unknown, ...repeated]
      const text = `{${all.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
      const ambiguous =
        unknown.length > 0 ? 'an unknown field' : repeated.length > 0 ? 'a field twice' : undefined
      if (chosen === 'byte order mark') return { bytes: Buffer.from(`\ufeff${text}`), mustFail: ambiguous }
      if (chosen === 'half')
        return { bytes: Buffer.from(text.slice(0, text.length / 2)), mustFail: 'half a body' }
      return { bytes: Buffer.from(text, chosen as BufferEncoding), mustFail: ambiguous }
    })
  return fc.oneof({ weight: 12, arbitrary: coded }, anyBytes)
}
