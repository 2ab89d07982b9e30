// Parses the arguments and options of commands, or refuses them in words.
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { nameFault } from '../../schemas/names.ts'
import { EVENT_TYPES, type EventType } from '../../schemas/feed.ts'
import { REASON_LENGTH } from '../../schemas/requests.ts'
import { ENTITY_TYPES } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import { type OperatorScope, OPERATOR_SCOPES } from '../../schemas/tiers.ts'

/** A time to the minute, or finer. */
const TIME = z.union([z.iso.datetime({ offset: true, precision: -1 }), z.iso.datetime({ offset: true })])

export function parseTime(text: string): Date {
  if (!TIME.safeParse(text).success) {
    throw new InvalidArgumentError('It must be a time with an offset such as 2026-01-31T12:00:00Z.')
  }
  return new Date(text)
}

export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,7}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1 on, of at most 8 digits.')
  return Number(text)
}

/** Parses a count, which may be 0. */
export function countArgument(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

export function collected(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

export const SERVICE_URL = [
  '<url>',
  'the address of the service, such as https://fvs.example or https://fvs.example/sandbox',
] as const
export const LOG_KEYS = [
  '--vkey <key>',
  'a key of the log, as its operator publishes it; may be repeated',
  collected,
] as const

/** Collects entities, each once, as `agent:UUID` or `forecaster:UUID`. */
export function parseEntities(text: string, before: readonly string[] = []): readonly string[] {
  const entity = text.toLowerCase()
  const [type, id, ...more] = entity.split(':')
  if (!ENTITY_TYPES.some((name) => name === type) || !uuid.safeParse(id).success || more.length > 0) {
    throw new InvalidArgumentError('It must be agent: or forecaster: with a UUID behind it.')
  }
  return [...new Set([...before, entity])]
}

/** Parses the scopes of an operator's key. */
export const parseScopes = (text: string): readonly OperatorScope[] => namesArgument(text, OPERATOR_SCOPES)

/** Parses types of events. */
export const parseEventTypes = (text: string): readonly EventType[] => namesArgument(text, EVENT_TYPES)

/** Parses names by commas. Returns each once, in the order of all. */
function namesArgument<Name extends string>(text: string, all: readonly Name[]): readonly Name[] {
  const named = text.split(',').map((part) => part.trim())
  if (!named.every((one) => all.some((name) => name === one))) {
    throw new InvalidArgumentError(`It must be of ${all.join(', ')}, by commas.`)
  }
  return all.filter((name) => named.includes(name))
}

export function parseReason(text: string): string {
  const given = text.trim().normalize('NFC')
  const fault =
    nameFault(given) ??
    (given.length > REASON_LENGTH ? `must have at most ${REASON_LENGTH} characters` : undefined)
  if (fault !== undefined) throw new InvalidArgumentError(`It ${fault}.`)
  return given
}
