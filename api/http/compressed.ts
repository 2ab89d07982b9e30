// Compressed forms of answers that pages are made of. Each form is made once for bytes that are sent again,
// by Node's threads, so that no other call waits.
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

/** The preferred one comes first. */
export const CODINGS = ['br', 'gzip'] as const
export type Coding = (typeof CODINGS)[number]

/** `best` is for bytes that stay for the life of a node, `fast` for pages. */
export type Effort = 'best' | 'fast'

/** Shorter bodies go in one packet as they are. */
const LEAST_BYTES = 1024

const QUALITY = {
  best: { br: 11, gzip: 9 },
  // A page of 30 kB takes under a millisecond, and is some 3 % larger than with the best quality of gzip.
  fast: { br: 5, gzip: 6 },
}

const compressedForms = new WeakMap<Uint8Array, Map<Coding, Promise<Uint8Array>>>()

/** Returns the bytes in a coding, or undefined where that is not worth it. */
export function compressed(
  bytes: Uint8Array,
  coding: Coding,
  effort: Effort,
): Promise<Uint8Array> | undefined {
  if (bytes.byteLength < LEAST_BYTES) return undefined
  const forms = compressedForms.get(bytes) ?? new Map<Coding, Promise<Uint8Array>>()
  compressedForms.set(bytes, forms)
  const form = forms.get(coding) ?? compress(bytes, coding, QUALITY[effort][coding])
  forms.set(coding, form)
  return form
}

function compress(bytes: Uint8Array, coding: Coding, quality: number): Promise<Uint8Array> {
  if (coding === 'gzip') return gzipped(bytes, { level: quality })
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
  }
  return brotli(bytes, { params })
}

/** Returns the strong entity tag of a form, which must differ from that of the bytes (RFC 9110, 8.8.3.3). */
export function tagOfForm(tag: string, coding: Coding): string {
  return `${tag.slice(0, -1)}-${coding}"`
}
