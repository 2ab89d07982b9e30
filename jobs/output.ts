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
    process.stdout.write(`${JSON.stringify(report.json)}\n`)
    return
  }
  if (report.text !== '') process.stdout.write(`${report.text}\n`)
  if (report.aside !== undefined) process.stderr.write(`${report.aside}\n`)
}

/**
 * Escapes line ends and the characters that would steer a terminal, so that text from a file is only shown.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0)!.toString(16)
    return `\\u{${code}}`
  })
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
  process.stderr.write(`fvs: ${text}`)
  if (json) process.stdout.write(`${JSON.stringify({ error })}\n`)
}
