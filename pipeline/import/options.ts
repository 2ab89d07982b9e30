// The options by which an operator says how a file differs from the plain form, parsed and checked against
// each other.
import { ServiceError } from '../../schemas/errors.ts'
import { nameFault } from '../../schemas/names.ts'
import { OUTCOMES } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import { IMPORT_COLUMNS, type Holds, type ImportKind } from './columns.ts'

const DELIMITERS = { ',': ',', ';': ';', tab: '\t', '\t': '\t' } as const
export type Delimiter = ',' | ';' | '\t'

/** Options for reading the header of a file. */
export interface HeaderOptions {
  /** Undefined: the delimiter that the header shows. */
  readonly delimiter: Delimiter | undefined
  /** Column → its name in the file, for columns that have another name there. */
  readonly map: ReadonlyMap<string, string>
  readonly ignoreUnknown: boolean
  /** The column of a file → its text in the rows that are wanted; the others are left out. */
  readonly where?: ReadonlyMap<string, string>
  /** The path of the list of rows inside a document of JSON. */
  readonly rows?: string | undefined
}

/** Options for reading the values of a row. */
export interface ValueOptions {
  /** The namespace of ids that may be any text; undefined: ids are UUIDs. */
  readonly namespace: string | undefined
  /** The secret of the ids of people in the namespace; undefined where anyone can derive them. */
  readonly idsSecret?: string | undefined
  /** Whether the operator said the namespace twice, because no import before had it. */
  readonly isNewNamespace: boolean
  /** The IANA zone of times without an offset; undefined: such times are refused. */
  readonly timezone: string | undefined
  readonly percent: boolean
  /** Text in the file → the outcome that it means. */
  readonly outcomes: ReadonlyMap<string, string>
  /** Whether each question without an event is one of its own, named by the id of the question. */
  readonly ownEvents: boolean
  /** Why the rows correct earlier ones. */
  readonly reason: string | undefined
  /** Column → its text in every row. */
  readonly set: ReadonlyMap<string, string>
  /** Whether of several rows about the same only the first is read. */
  readonly firstOfRepeats: boolean
  /** The milliseconds of one unit of times that are numbers; undefined: times are no numbers. */
  readonly epochMs: number | undefined
  /** Whether a time may be a day. */
  readonly days: boolean
  readonly normalizeText: boolean
}

export interface ImportOptions extends HeaderOptions, ValueOptions {}

/** Options as the operator wrote them. */
export interface GivenOptions {
  delimiter?: string
  ids?: string
  /** A namespace that no import before had is said twice. */
  namespace?: string | readonly string[]
  map?: readonly string[]
  ignoreUnknown?: boolean
  timezone?: string
  percent?: boolean
  outcomes?: string
  events?: string
  correct?: string
  set?: readonly string[]
  where?: readonly string[]
  rows?: string
  firstOfRepeats?: boolean
  epoch?: string
  days?: boolean
  normalizeText?: boolean
}

/**
 * @throws ServiceError `invalid` for an option that is wrong, contradicts another, or is not for this kind of
 *   file.
 */
export function parseOptions(kind: ImportKind, given: GivenOptions): ImportOptions {
  const {
    delimiter = 'auto',
    ignoreUnknown = false,
    timezone,
    percent = false,
    outcomes,
    events,
    correct,
  } = given
  if (delimiter !== 'auto' && !Object.hasOwn(DELIMITERS, delimiter)) {
    throw refused(`--delimiter is ${JSON.stringify(delimiter)}, not one of auto, ",", ";" and tab`)
  }
  onlyFor(kind, '--percent', percent, 'probability')
  onlyFor(kind, '--outcomes', outcomes !== undefined, 'outcome')
  onlyFor(kind, '--events', events !== undefined, 'group')
  onlyFor(kind, '--correct', correct !== undefined, 'group', 'eventKind', 'outcome')
  if (events !== undefined && events !== 'own') {
    throw refused(`--events is ${JSON.stringify(events)}, not "own"`)
  }
  onlyFor(kind, '--timezone', timezone !== undefined, 'plan', 'event')
  const set = parseSet(kind, given)
  return {
    delimiter: delimiter === 'auto' ? undefined : DELIMITERS[delimiter as keyof typeof DELIMITERS],
    map: parseMap(kind, given.map ?? [], set),
    ignoreUnknown,
    ...parseNamespace(given),
    timezone: timezone === undefined ? undefined : parseZone(timezone),
    percent,
    outcomes: parseOutcomes(outcomes),
    ownEvents: events === 'own',
    reason: parseReason(correct),
    set,
    where: new Map((given.where ?? []).map((text) => pair('--where', text))),
    rows: given.rows,
    firstOfRepeats: given.firstOfRepeats ?? false,
    epochMs: parseEpoch(kind, given.epoch),
    days: parseDays(kind, given.days),
    normalizeText: given.normalizeText ?? false,
  }
}

const EPOCHS: Readonly<Record<string, number>> = { s: 1000, ms: 1, us: 0.001 }

function parseEpoch(kind: ImportKind, epoch: string | undefined): number | undefined {
  if (epoch === undefined) return undefined
  onlyFor(kind, '--epoch', true, 'plan', 'event')
  if (Object.hasOwn(EPOCHS, epoch)) return EPOCHS[epoch]
  throw refused(`--epoch is ${JSON.stringify(epoch)}, not one of s, ms and us`)
}

function parseDays(kind: ImportKind, days = false): boolean {
  onlyFor(kind, '--days', days, 'plan', 'event')
  return days
}

/** Splits an option of the form column=Text at its first equals sign. */
function pair(option: string, text: string, what = 'Text'): [column: string, value: string] {
  const at = text.indexOf('=')
  if (at < 1 || at === text.length - 1) {
    throw refused(`${option} is ${JSON.stringify(text)}, not of the form column=${what}`)
  }
  return [text.slice(0, at), text.slice(at + 1)]
}

function parseSet(kind: ImportKind, { set = [], map = [] }: GivenOptions): ReadonlyMap<string, string> {
  const constants = new Map<string, string>()
  for (const text of set) {
    const [column, value] = pair('--set', text)
    assertColumn(kind, `--set ${text}`, column)
    if (constants.has(column)) throw refused(`--set gives ${column} two texts`)
    if (map.some((other) => other.startsWith(`${column}=`))) {
      throw refused(`--set and --map both say what ${column} is`)
    }
    constants.set(column, value)
  }
  return constants
}

function assertColumn(kind: ImportKind, option: string, column: string): void {
  const known = IMPORT_COLUMNS[kind].map(({ name }) => name)
  if (known.includes(column)) return
  throw refused(`${option}: ${kind} have no column ${JSON.stringify(column)}, only ${known.join(', ')}`)
}

function onlyFor(kind: ImportKind, option: string, isGiven: boolean, ...held: readonly Holds[]): void {
  if (isGiven && !IMPORT_COLUMNS[kind].some(({ holds }) => held.includes(holds))) {
    throw refused(`${option} is not for ${kind}: they have no such column`)
  }
}

/** The reason is published, so it follows the rule for names. */
function parseReason(reason: string | undefined): string | undefined {
  const fault = reason === undefined ? undefined : nameFault(reason)
  if (fault === undefined) return reason
  throw refused(`--correct is ${JSON.stringify(reason)}; it ${fault}`)
}

function parseNamespace({
  ids = 'uuid',
  namespace: given,
}: GivenOptions): Pick<ImportOptions, 'namespace' | 'isNewNamespace'> {
  const [namespace, again, ...more] = given === undefined ? [] : [given].flat()
  if (ids !== 'uuid' && ids !== 'text') {
    throw refused(`--ids is ${JSON.stringify(ids)}, not one of uuid and text`)
  }
  if (ids === 'uuid') {
    if (namespace !== undefined) throw refused('--namespace is only for --ids text')
    return { namespace: undefined, isNewNamespace: false }
  }
  if (namespace === undefined) {
    throw refused('--ids text needs --namespace: a UUID of your own, the same for all your files')
  }
  const { data, success } = uuid.safeParse(namespace)
  if (!success) throw refused(`--namespace is ${JSON.stringify(namespace)}, not a UUID`)
  if (more.length > 0 || (again !== undefined && again !== namespace)) {
    throw refused('--namespace is said with two values; a new one is said twice with the same value')
  }
  return { namespace: data, isNewNamespace: again !== undefined }
}

function parseMap(
  kind: ImportKind,
  given: readonly string[],
  set: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const known = IMPORT_COLUMNS[kind].map(({ name }) => name)
  const map = new Map<string, string>()
  for (const text of given) {
    const [column, name] = pair('--map', text, 'Name')
    assertColumn(kind, `--map ${text}`, column)
    const earlier = map.get(column)
    if (earlier !== undefined) {
      throw refused(
        `--map names two columns for ${column}: ${JSON.stringify(earlier)} and ${JSON.stringify(name)}`,
      )
    }
    map.set(column, name)
  }
  for (const [column, name] of map) {
    // Two columns may be one of the file only if both are said to be, or if the other is not of the file.
    const other = known.find((one) => one === name && one !== column && !map.has(one) && !set.has(one))
    if (other !== undefined) {
      throw refused(
        `--map ${column}=${name} takes ${JSON.stringify(name)} for ${column}, and it is the column ${other} too; say which column is ${other} with --map ${other}=Name or its text with --set ${other}=Text, or rename it in the file`,
      )
    }
  }
  return map
}

/** Refuses offsets such as +01:00: a file whose times all have one offset can say so in each time. */
function parseZone(zone: string): string {
  try {
    if (!/^[+-]/.test(zone))
      return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
  } catch {
    // The refusal follows.
  }
  throw refused(`--timezone is ${JSON.stringify(zone)}, not a zone such as Europe/Paris or UTC`)
}

/** Whether a text is a number as an outcome may be one. */
export const isNumberText = (text: string) => /^-?\d+(\.\d*)?$/.test(text)
const isSameNumber = (one: string, other: string) =>
  isNumberText(one) && isNumberText(other) && Number(one) === Number(other)

function parseOutcomes(given: string | undefined): ReadonlyMap<string, string> {
  const meanings = new Map<string, string>()
  if (given === undefined) return meanings
  for (const part of given.split(',')) {
    const [, outcome, texts] = /^([^=]*)=(.*)$/s.exec(part) ?? []
    if (outcome === undefined || !OUTCOMES.some((name) => name === outcome)) {
      throw refused(
        `--outcomes has ${JSON.stringify(part)}, not of the form yes=YES|1, with one of ${OUTCOMES.join(', ')}`,
      )
    }
    for (const text of texts!.split('|')) {
      if (text === '') throw refused(`--outcomes gives ${outcome} an empty text`)
      const own = OUTCOMES.find((name) => name === text.toLowerCase())
      if (own !== undefined && own !== outcome) {
        throw refused(`--outcomes gives ${JSON.stringify(text)} the meaning ${outcome}; ${own} keeps its own`)
      }
      const isSaid = [...meanings.keys()].some((other) => other === text || isSameNumber(other, text))
      if (isSaid) throw refused(`--outcomes has ${JSON.stringify(text)} twice`)
      meanings.set(text, outcome)
    }
  }
  return meanings
}

function refused(message: string): ServiceError {
  return new ServiceError('invalid', message)
}
