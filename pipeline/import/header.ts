// Reads the header of a CSV file: its delimiter, its names, and the places of the wanted columns.
import { ServiceError } from '../../schemas/errors.ts'
import { withFile } from '../store/disk.ts'
import type { ExpectedColumns } from './cells.ts'
import type { Delimiter, HeaderOptions } from './options.ts'

const LINE_BYTES = 65_536
/** The most columns of a file. */
export const MOST_COLUMNS = 1_000
const SHOWN_CHARACTERS = 300
const DELIMITERS = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' } as const

export interface Header {
  names: string[]
  delimiter: Delimiter
  /** The header as found, for messages. */
  shown: string
}

/**
 * Reads the first line of a file. If no delimiter is given, it takes the one that finds most of the columns,
 * or else most names.
 *
 * @throws ServiceError `invalid` for a line that is no header.
 */
export async function readHeader(
  path: string,
  name: string,
  columns: Pick<ExpectedColumns, 'required' | 'optional'>,
  options: HeaderOptions,
): Promise<Header> {
  const line = await firstLine(path)
  const fault = lineFault(line)
  if (fault !== undefined) throw new ServiceError('invalid', `${name} ${fault}`)
  const wanted = wantedNames(columns, options)
  const worth = (delimiter: Delimiter) => {
    const names = split(line, delimiter)
    return names.filter((text) => wanted.has(text)).length * MOST_COLUMNS + Math.min(names.length, 999)
  }
  const all = Object.keys(DELIMITERS) as Delimiter[]
  const delimiter =
    options.delimiter ?? all.reduce((best, other) => (worth(other) > worth(best) ? other : best))
  const names = split(line, delimiter)
  const last = names.at(-1)!
  if (/^"[^"]*$/.test(last)) {
    throw new ServiceError('invalid', `${name} has a quote in its header that does not end: ${quoted(last)}`)
  }
  const other = all.find((one) => one !== delimiter && worth(one) > worth(delimiter))
  const advice = other === undefined ? '' : `; its delimiter may be another, see --delimiter`
  return {
    names,
    delimiter,
    shown: `the header that was found, read with ${DELIMITERS[delimiter]}: ${quoted(line)}${advice}`,
  }
}

function lineFault(line: string): string | undefined {
  if (line.includes('\0')) {
    return `has bytes of zero; if it is UTF-16, save it as UTF-8; the header that was found: ${quoted(line)}`
  }
  if (Buffer.byteLength(line) >= LINE_BYTES) return `has a first line of more than ${LINE_BYTES - 1} bytes`
  if (/^sep=.$/i.test(line)) return `begins with a line for Excel, ${quoted(line)}; delete that line`
  return undefined
}

async function firstLine(path: string): Promise<string> {
  const { buffer, bytesRead } = await withFile(path, 'r', (file) =>
    file.read(new Uint8Array(LINE_BYTES), 0, LINE_BYTES, 0),
  )
  return new TextDecoder().decode(buffer.subarray(0, bytesRead)).split(/\r?\n/, 1)[0]!
}

/** Splits a line by RFC 4180, and trims the fields. The last field ends with the line, quoted or not. */
function split(line: string, delimiter: string): string[] {
  const fields = ['']
  let [isQuoted, inQuotes] = [false, false]
  for (const character of line) {
    const field = fields.at(-1)!
    if (character === delimiter && !inQuotes) {
      fields.push('')
      isQuoted = false
      continue
    }
    if (character === '"' && (isQuoted || field.trim() === '')) {
      // A doubled quote inside a quoted field closes the field and opens it again.
      isQuoted = true
      inQuotes = !inQuotes
    }
    fields[fields.length - 1] = field + character
  }
  return fields.map((field) => {
    const text = field.trim()
    return /^".*"$/.test(text) ? text.slice(1, -1).replaceAll('""', '"') : text
  })
}

const namesIn = (columns: readonly string[], map: ReadonlyMap<string, string>) =>
  columns.map((column) => map.get(column) ?? column)

/** Returns the names that a reading of these columns with these options looks for in a file. */
export function wantedNames(
  { required, optional }: Pick<ExpectedColumns, 'required' | 'optional'>,
  { map, where }: HeaderOptions,
): ReadonlySet<string> {
  return new Set([...namesIn([...required, ...optional], map), ...(where?.keys() ?? [])])
}

/**
 * Returns the name in the file of each column that the file has.
 *
 * @param shown the header as found, for messages; empty for a file without a header line.
 * @throws ServiceError `invalid` for columns that are missing, unknown, repeated or given twice.
 */
export function findColumns(
  name: string,
  names: readonly string[],
  { required, optional }: ExpectedColumns,
  { map, ignoreUnknown, where = new Map() }: Pick<HeaderOptions, 'map' | 'ignoreUnknown' | 'where'>,
  shown = '',
): ReadonlyMap<string, string> {
  if (names.length > MOST_COLUMNS) {
    throw new ServiceError('invalid', `${name} has more than ${MOST_COLUMNS} columns`)
  }
  const allowed = [...required, ...optional]
  const refuse = (fault: string, faulty: readonly string[], advice = '') => {
    const ending = shown === '' ? '' : `; ${shown}`
    return new ServiceError(
      'invalid',
      `${name} ${fault} ${faulty.map(quoted).join(', ')}; the columns it may have are ${allowed.join(', ')}${advice}${ending}`,
    )
  }
  const wanted = new Map(allowed.map((column) => [map.get(column) ?? column, column]))
  const chosenBy = [...where.keys()]
  const unmapped = [...map.values()].filter((text) => !names.includes(text))
  if (unmapped.length > 0) throw refuse('has not the columns that --map names:', unmapped)
  const doubled = [...map].find(([column]) => !wanted.has(column) && names.includes(column))
  if (doubled) {
    throw refuse(`has two columns for ${doubled[0]}, its own and the one that --map names:`, doubled)
  }
  const absent = namesIn(required, map).filter((text) => !names.includes(text))
  const unmet = chosenBy.filter((text) => !names.includes(text))
  if (unmet.length > 0) throw refuse('has not the columns that --where names:', unmet)
  const unknown = names.filter((text) => !wanted.has(text) && !chosenBy.includes(text))
  if (absent.length > 0) {
    throw refuse('lacks', absent, isRow(names, wanted) ? NO_HEADER : adviceFor(absent, unknown, wanted))
  }
  if (unknown.length > 0 && !ignoreUnknown) {
    throw refuse('has unknown', unknown, '; see --map and --ignore-unknown')
  }
  const repeated = names.filter((text, index) => wanted.has(text) && names.indexOf(text) !== index)
  if (repeated.length > 0) throw refuse('repeats', repeated)
  return new Map(
    allowed.flatMap((column) => {
      const own = map.get(column) ?? column
      return names.includes(own) ? [[column, own]] : []
    }),
  )
}

const NO_HEADER = '; no header? the first line must have the names of the columns'
/** A number, the beginning of a time, a UUID, or the kind of an entity: a value and not a name. */
const VALUE =
  /^([-+]?[\d.]+([eE]-?\d+)?%?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*|[\da-f]{8}-[\da-f-]{27}|forecaster|agent)$/i

/** Whether the names of a file are those of no column and look like the values of a row. */
function isRow(names: readonly string[], wanted: ReadonlyMap<string, string>): boolean {
  return !names.some((text) => wanted.has(text)) && names.some((text) => VALUE.test(text))
}

/** Suggests `--map` for a missing column, which the file may have in other letters. */
function adviceFor(
  absent: readonly string[],
  unknown: readonly string[],
  wanted: ReadonlyMap<string, string>,
): string {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
  for (const text of absent) {
    const like = unknown.find((other) => plain(other) === plain(text))
    if (like !== undefined) return `; see --map ${wanted.get(text)}=${quoted(like)}`
  }
  return unknown.length > 0 ? '; see --map' : ''
}

/** Returns a text in quotes, on one line, and not too long. */
function quoted(text: string): string {
  return JSON.stringify(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text)
}
