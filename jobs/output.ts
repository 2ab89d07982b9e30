// What a command prints: on standard output one JSON object or lines for people, on standard error what went wrong.
import { ServiceError } from '../schemas/errors.ts'

export interface Report {
  /** False where the input or the check failed; the command then exits with 1. */
  ok: boolean
  json: object
  text: string
}

export function print(report: Report, json: boolean): void {
  if (json) process.stdout.write(`${JSON.stringify(report.json)}\n`)
  else if (report.text !== '') process.stdout.write(`${report.text}\n`)
}

/** Says what went wrong: a foreseen failure in its own words, any other one with its stack, for a bug report. */
export function reportError(error: unknown, json: boolean): void {
  if (!(error instanceof ServiceError)) {
    process.stderr.write(`fvs: unexpected failure\n${error instanceof Error ? error.stack : String(error)}\n`)
    if (json)
      process.stdout.write(
        `${JSON.stringify({ error: { kind: 'unexpected', message: 'see standard error' } })}\n`,
      )
    return
  }
  const faults = error.faults.map(({ pointer, detail }) => `  ${pointer}: ${detail}\n`)
  process.stderr.write(`fvs: ${error.message}\n${faults.join('')}`)
  if (json) {
    const { kind, message } = error
    process.stdout.write(`${JSON.stringify({ error: { kind, message, errors: error.faults } })}\n`)
  }
}
