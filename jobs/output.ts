// Prints the result of a command: one JSON object or lines for people on standard output, failures on
// standard error.
import { ServiceError } from '../schemas/errors.ts'

export interface Report {
  /** False if the input or the check failed; the command then exits with 1. */
  ok: boolean
  json: object
  text: string
  /** Further words for people, on standard error, so that the text alone can go to a file. */
  aside?: string
}

export function print(report: Report, json: boolean): void {
  if (json) {
    process.stdout.write(`${printableJson(report.json)}\n`)
    return
  }
  if (report.text !== '') process.stdout.write(`${printableLines(report.text)}\n`)
  if (report.aside !== undefined) process.stderr.write(`${printableLines(report.aside)}\n`)
}

/** Control characters, and those that change the direction of text or show as nothing. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/**
 * Escapes line ends and the characters that would steer a terminal, so that the text of others is only shown.
 */
export function printable(text: string): string {
  return text.replaceAll(UNSEEN, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** Leaves only line feeds as they are. */
function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** Returns the JSON of a value, with escapes that a parser reads as the same characters. */
export function printableJson(value: unknown): string {
  return escapedJson(JSON.stringify(value))
}

/** Escapes the same in text that is JSON already, but for the line feeds between its lines. */
export function escapedJson(text: string): string {
  return text.replaceAll(UNSEEN, (character) =>
    character === '\n'
      ? character
      : character
          .split('')
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          .join(''),
  )
}

/** Reports a failure: a foreseen one in its own words, any other one with its stack, for a bug report. */
export function reportError(error: unknown, json: boolean): void {
  if (error instanceof ServiceError) {
    const { kind, message, faults } = error
    const lines = faults.map(({ pointer, detail }) => `  ${printable(`${pointer}: ${detail}`)}\n`)
    tell(`${message}\n${lines.join('')}`, { kind, message, errors: faults }, json)
  } else {
    const stack = error instanceof Error ? error.stack : String(error)
    tell(`unexpected failure\n${stack}\n`, { kind: 'unexpected', message: 'see standard error' }, json)
  }
}

function tell(text: string, error: object, json: boolean): void {
  process.stderr.write(`fvs: ${printableLines(text)}`)
  if (json) process.stdout.write(`${printableJson({ error })}\n`)
}
