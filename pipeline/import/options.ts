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
}

/** Options for reading the values of a row. */
export interface ValueOptions {
  /** The namespace of ids that may be any text; undefined: ids are UUIDs. */
  readonly namespace: string | undefined
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
  onlyFor(kind, '--correct', correct !== undefined, 'group', 'outcome')
  if (events !== undefined && events !== 'own') {
    throw refused(`--events is ${JSON.stringify(events)}, not "own"`)
  }
  onlyFor(kind, '--timezone', timezone !== undefined, 'plan', 'event')
  return {
    delimiter: delimiter === 'auto' ? undefined : DELIMITERS[delimiter as keyof typeof DELIMITERS],
    map: parseMap(kind, given.map ?? []),
    ignoreUnknown,
    ...parseNamespace(given),
    timezone: timezone === undefined ? undefined : parseZone(timezone),
    percent,
    outcomes: parseOutcomes(outcomes),
    ownEvents: events === 'own',
    reason: parseReason(correct),
  }
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

function parseMap(kind: ImportKind, given: readonly string[]): ReadonlyMap<string, string> {
  const known = IMPORT_COLUMNS[kind].map(({ name }) => name)
  const map = new Map<string, string>()
  for (const text of given) {
    const at = text.indexOf('=')
    if (at < 1 || at === text.length - 1) {
      throw refused(`--map is ${JSON.stringify(text)}, not of the form column=Name`)
    }
    const [column, name] = [text.slice(0, at), text.slice(at + 1)]
    if (!known.includes(column)) {
      throw refused(
        `--map ${text}: ${kind} have no column ${JSON.stringify(column)}, only ${known.join(', ')}`,
      )
    }
    const earlier = map.get(column)
    if (earlier !== undefined) {
      throw refused(
        `--map names two columns for ${column}: ${JSON.stringify(earlier)} and ${JSON.stringify(name)}`,
      )
    }
    map.set(column, name)
  }
  for (const [column, name] of map) {
    const other = known.find((one) => one !== column && (map.get(one) ?? one) === name)
    if (other !== undefined) {
      const advice = map.has(other)
        ? ''
        : `; say with --map ${other}=Name which column is ${other}, or rename it in the file`
      throw refused(
        `--map ${column}=${name} takes ${JSON.stringify(name)} for ${column}, and it is the column ${other} too${advice}`,
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
      if (meanings.has(text)) throw refused(`--outcomes has ${JSON.stringify(text)} twice`)
      meanings.set(text, outcome)
    }
  }
  return meanings
}

function refused(message: string): ServiceError {
  return new ServiceError('invalid', message)
}
