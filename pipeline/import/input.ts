// Prepares an operator's file for DuckDB: a local file in UTF-8 with the lines of the original. A file that
// has this form already is read in place.
import { createReadStream, createWriteStream } from 'node:fs'
import { open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { ServiceError } from '../../schemas/errors.ts'
import { hasCode, withFile } from '../store/disk.ts'

/** A path, or bytes such as those of standard input. */
export type Source = string | AsyncIterable<Uint8Array>

export type Format = 'csv' | 'json' | 'ndjson' | 'parquet'

export interface Input {
  /** A local file. */
  path: string
  /** For messages. */
  name: string
  format: Format
}

/**
 * The most bytes that are unpacked, decoded or read from a pipe, because a file of a few kilobytes may hold
 * more than a disk.
 */
export const MOST_INPUT_BYTES = 4 * 2 ** 30

const FORMATS: Record<string, Format> = {
  '.csv': 'csv',
  '.tsv': 'csv',
  '.json': 'json',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.parquet': 'parquet',
}
const SNIFFED_BYTES = 64
/** The beginning of a file in which its first line ends, if it is no longer than a header may be. */
const FIRST_LINE_BYTES = 65_536

export const nameOf = (source: Source) => (typeof source === 'string' ? source : 'standard input')

/**
 * Opens a source as a local file. Copies are made in the folder `directory`, over those of an earlier call.
 *
 * @throws ServiceError `invalid` for a source that is no file, has an unknown format, cannot be unpacked or
 *   decoded, or is then longer than `mostBytes`.
 */
export async function openInput(
  source: Source,
  directory: string,
  mostBytes = MOST_INPUT_BYTES,
): Promise<Input> {
  const name = nameOf(source)
  const named = typeof source === 'string' ? formatByName(source) : undefined
  if (typeof source === 'string') await assertFile(source)
  const stages: string[] = []
  const stage = async (from: AsyncIterable<Uint8Array>, ...through: Duplex[]) => {
    const to = join(directory, `import-${stages.length}`)
    await copied(name, mostBytes, from, through, to)
    const last = stages.at(-1)
    if (last !== undefined) await rm(last)
    stages.push(to)
    return to
  }
  let path = typeof source === 'string' ? source : await stage(source)
  let start = await beginning(path)
  if (isPacked(start)) {
    path = await stage(createReadStream(path), createGunzip())
    start = await beginning(path)
    if (isPacked(start)) throw new ServiceError('invalid', `${name} is packed twice; unpack it once`)
  } else if (/\.gz$/i.test(name)) {
    throw new ServiceError('invalid', `${name} is not packed by gzip, as its name says`)
  }
  const format = named ?? formatByContent(start)
  if (format === 'parquet') return { path, name, format }
  if (start.subarray(0, 4).equals(Buffer.from('PK\x03\x04'))) {
    throw new ServiceError('invalid', `${name} is a spreadsheet or an archive; save the sheet as CSV`)
  }
  if (start.toString('latin1').startsWith('version https://git-lfs')) {
    throw new ServiceError(
      'invalid',
      `${name} is a pointer of Git LFS, not the file itself; run \`git lfs pull\``,
    )
  }
  const encoding = ENCODINGS.find(({ mark }) => start.subarray(0, 2).equals(mark))?.encoding
  if (encoding !== undefined) path = await stage(createReadStream(path), decodedBy(name, encoding))
  if (await endsByReturns(path)) path = await stage(createReadStream(path), feedsForReturns())
  return { path, name, format }
}

/**
 * Returns an input whose bytes are decoded from an old encoding, unless they are UTF-8 already. The copy is
 * made in the folder `directory`.
 */
export async function decoded(input: Input, directory: string, encoding: string): Promise<Input> {
  if (await isUtf8(input.path)) return input
  const path = join(directory, 'import-decoded')
  await copied(
    input.name,
    MOST_INPUT_BYTES,
    createReadStream(input.path),
    [decodedBy(input.name, encoding)],
    path,
  )
  return { ...input, path }
}

async function isUtf8(path: string): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of createReadStream(path)) decoder.decode(chunk as Buffer, { stream: true })
    decoder.decode()
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

const isPacked = (start: Buffer) => start[0] === 0x1f && start[1] === 0x8b

const ENCODINGS = [
  { mark: Buffer.from([0xff, 0xfe]), encoding: 'utf-16le' },
  { mark: Buffer.from([0xfe, 0xff]), encoding: 'utf-16be' },
]

function formatByName(path: string): Format {
  const lower = path.toLowerCase()
  const unpacked = lower.endsWith('.gz') ? lower.slice(0, -3) : lower
  for (const [ending, format] of Object.entries(FORMATS)) {
    if (unpacked.endsWith(ending)) return format
  }
  const isSheet = /\.(xlsx?|ods|numbers)$/.test(unpacked)
  throw new ServiceError(
    'invalid',
    isSheet
      ? `${path} is a spreadsheet; save the sheet as CSV`
      : `${path}: the name must end in ${Object.keys(FORMATS).join(', ')}, or one of these with .gz; - is standard input`,
  )
}

function formatByContent(start: Buffer): Format {
  if (start.subarray(0, 4).equals(Buffer.from('PAR1'))) return 'parquet'
  // Drops the bytes of zero, so that the patterns find UTF-16 too.
  const text = start.toString('latin1').replaceAll('\0', '')
  if (/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*\[/.test(text)) return 'json'
  return /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*\{/.test(text) ? 'ndjson' : 'csv'
}

/** @throws ServiceError `invalid` for a path that is no file, or that cannot be read. */
export async function assertFile(path: string): Promise<void> {
  let fault: string | undefined
  try {
    const found = await stat(path)
    if (found.isDirectory()) fault = `${path} is a directory`
    else if (!found.isFile()) fault = `${path} is not a file; a pipe is read as -`
    else await (await open(path, 'r')).close()
  } catch (cause) {
    const message = hasCode(cause, 'ENOENT') ? `there is no file ${path}` : `${path} cannot be read`
    throw new ServiceError('invalid', message, { cause })
  }
  if (fault !== undefined) throw new ServiceError('invalid', fault)
}

export function beginning(path: string, sizeBytes = SNIFFED_BYTES): Promise<Buffer> {
  return withFile(path, 'r', async (file) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(sizeBytes), 0, sizeBytes, 0)
    return buffer.subarray(0, bytesRead)
  })
}

/** Whether lines end by a carriage return alone, as old programs write them. */
async function endsByReturns(path: string): Promise<boolean> {
  const start = await beginning(path, FIRST_LINE_BYTES)
  return start.includes(RETURN) && !start.includes(FEED)
}

const RETURN = 0x0d
const FEED = 0x0a

type Bytes = AsyncIterable<Uint8Array>

function feedsForReturns(): Duplex {
  return Duplex.from(async function* (bytes: Bytes): Bytes {
    for await (const chunk of bytes) yield chunk.map((byte) => (byte === RETURN ? FEED : byte))
  })
}

async function copied(
  name: string,
  mostBytes: number,
  from: Bytes,
  through: readonly Duplex[],
  to: string,
): Promise<void> {
  try {
    await pipeline([Readable.from(from), ...through, bounded(name, mostBytes), createWriteStream(to)])
  } catch (cause) {
    await rm(to, { force: true })
    if (cause instanceof ServiceError) throw cause
    if (hasCode(cause, 'ENOSPC')) {
      throw new ServiceError('unavailable', `no space is left to unpack ${name}`, { cause })
    }
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ServiceError('invalid', `${name} cannot be unpacked: ${reason}`, { cause })
  }
}

export function bounded(name: string, mostBytes: number): Duplex {
  return Duplex.from(async function* (bytes: Bytes): Bytes {
    let count = 0
    for await (const chunk of bytes) {
      count += chunk.byteLength
      if (count > mostBytes) {
        throw new ServiceError(
          'invalid',
          `${name} holds more than ${mostBytes.toLocaleString('en')} bytes when unpacked; import it in parts, as plain files`,
        )
      }
      yield chunk
    }
  })
}

function decodedBy(name: string, encoding: string): Duplex {
  return Duplex.from(async function* (bytes: Bytes): Bytes {
    const decoder = new TextDecoder(encoding, { fatal: true })
    const encoder = new TextEncoder()
    try {
      for await (const chunk of bytes) yield encoder.encode(decoder.decode(chunk, { stream: true }))
      yield encoder.encode(decoder.decode())
    } catch (cause) {
      if (cause instanceof TypeError) {
        throw new ServiceError(
          'invalid',
          `${name} begins as ${encoding.toUpperCase()} and is not all of it`,
          {
            cause,
          },
        )
      }
      throw cause
    }
  })
}
