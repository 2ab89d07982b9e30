// What a command prints: on standard output one JSON object or lines for people, on standard error what went
// wrong.
import { ServiceError } from '../schemas/errors.ts'

export interface Report {
  /** False where the input or the check failed; the command then exits with 1. */
  ok: boolean
  json: object
  text: string
  /** What to tell people beside the text, on standard error, so that the text alone can go to a file. */
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
 * A text on one line, without the characters that would steer a terminal: what a file says is shown and does
 * nothing.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0)!.toString(16)
    return `\\u{${code}}`
  })
}

/**
 * Says what went wrong: a foreseen failure in its own words, any other one with its stack, for a bug report.
 */
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
