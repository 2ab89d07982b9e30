// Reads and writes the lines of stages: fields separated by TAB, in UTF-8, with LF at each end and `\N` for
// null.
import { ServiceError } from '../../../schemas/errors.ts'

export const NULL = '\\N'

/** A stream of bytes, such as standard input. */
export type Input = AsyncIterable<Uint8Array>

/** The lines that a stage reads. */
export interface Format<Name extends string = string> {
  /** The subject of a line, for messages. */
  subject: string
  columns: readonly Name[]
  /** The place of each column in a line. */
  at: Readonly<Record<Name, number>>
  /**
   * Returns less than 0 if `a` must come before `b`, 0 if they may come in any order, and more than 0 if `a`
   * must come after `b` or the two must not both occur.
   */
  compare: (a: Fields, b: Fields) => number
}

/** The order of lines: each column as its text, as a number, or as a number that descends. */
type Order<Name extends string> = Readonly<Partial<Record<Name, 'text' | 'number' | 'descending'>>>

/**
 * Returns the format of lines in an order. Null comes first, but last where numbers descend. No two lines may
 * be equal in this order, unless it `mayRepeat`.
 */
export function formatOf<const Name extends string>(
  subject: string,
  columns: readonly Name[],
  order: Order<NoInfer<Name>>,
  { mayRepeat = false } = {},
): Format<Name> {
  const at = {} as Record<Name, number>
  columns.forEach((name, place) => (at[name] = place))
  const compare = comparisonIn(at, order)
  return { subject, columns, at, compare: mayRepeat ? compare : (a, b) => compare(a, b) || 1 }
}

/** The fields of a line, as texts. */
export type Fields = readonly string[]

/**
 * Yields the lines of an input, many at a time.
 *
 * @throws ServiceError `invalid` for a wrong number of fields, a last line without its end, bytes that are
 *   not UTF-8, and lines out of order.
 */
export async function* linesIn(input: Input, { subject, columns, compare }: Format): AsyncIterable<Fields[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let rest = ''
  let count = 0
  let last: Fields | undefined
  const wrong = (what: string) => new ServiceError('invalid', `line ${count}, of ${subject}: ${what}`)
  const read = (text: string): Fields => {
    count += 1
    const fields = text.split('\t')
    if (fields.length !== columns.length) {
      throw wrong(`${fields.length} fields, and not ${columns.length}: ${columns.join(', ')}`)
    }
    if (last && compare(last, fields) > 0) throw wrong('out of order, or twice')
    last = fields
    return fields
  }
  const decoded = (bytes?: Uint8Array): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      throw new ServiceError('invalid', `after line ${count}, of ${subject}: not UTF-8`)
    }
  }
  for await (const bytes of input) {
    const texts = (rest + decoded(bytes)).split('\n')
    rest = texts.pop()!
    if (texts.length > 0) yield texts.map(read)
  }
  rest += decoded()
  if (rest !== '') {
    count += 1
    throw wrong('the last line has no end')
  }
}

/** @throws ServiceError `invalid` for anything but a whole number that a double holds. */
export function wholeOf(field: string): number {
  const value = Number(field)
  if (Number.isSafeInteger(value) && /^-?\d+$/.test(field)) return value
  throw new ServiceError('invalid', `${JSON.stringify(field)} is not a whole number`)
}

export function wholeOrNull(field: string): number | null {
  return field === NULL ? null : wholeOf(field)
}

/** Reads a flag. @throws ServiceError `invalid` for anything but 0 and 1. */
export function isSet(field: string): boolean {
  if (field === '0' || field === '1') return field === '1'
  throw new ServiceError('invalid', `${JSON.stringify(field)} is neither 0 nor 1`)
}

/** @throws ServiceError `invalid` for a field that is not JSON. */
export function jsonInField(field: string): unknown {
  try {
    return JSON.parse(field)
  } catch {
    throw new ServiceError('invalid', `${JSON.stringify(field.slice(0, 80))} is not JSON`)
  }
}

export function lineOfFields(fields: readonly (string | number | null)[]): string {
  return `${fields.map((field) => field ?? NULL).join('\t')}\n`
}

function comparisonIn<Name extends string>(
  at: Readonly<Record<Name, number>>,
  order: Order<Name>,
): Format['compare'] {
  const keys = (Object.keys(order) as Name[]).map((name) => ({
    place: at[name],
    isText: order[name] === 'text',
    isDescending: order[name] === 'descending',
  }))
  return (a, b) => {
    for (const { place, isText, isDescending } of keys) {
      const [one, other] = isDescending ? [b[place]!, a[place]!] : [a[place]!, b[place]!]
      if (one === other) continue
      if (one === NULL) return -1
      if (other === NULL) return 1
      if (isText) return one < other ? -1 : 1
      return wholeOf(one) - wholeOf(other)
    }
    return 0
  }
}
