// Prints the result of a command: one JSON object or lines for people on standard output, failures on
// standard error.
import { printable, printableJson } from '../../pipeline/printable.ts'
import { ServiceError } from '../../schemas/errors.ts'

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

/** The words beside a new secret. */
export const KEEP_IT = 'Keep it: it is not shown again.'

/** Returns a labelled line for each text from others, so that no text can fake a line. */
export function labelled(label: 'fault' | 'note', texts: readonly string[]): string[] {
  return texts.map((text) => printable(`${label}: ${text}`))
}

/** Escapes each line, and keeps the line feeds. */
function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** Reports a failure: a foreseen one in its own words, any other with its stack, for a bug report. */
export function reportError(error: unknown, json: boolean): void {
  if (error instanceof ServiceError) {
    const { kind, message, faults } = error
    const details = faults.map(({ pointer, detail }) => `  ${printable(`${pointer}: ${detail}`)}\n`)
    tell(`${message}\n${details.join('')}`, { kind, message, errors: faults }, json)
  } else {
    const stack = error instanceof Error ? error.stack : String(error)
    tell(`unexpected failure\n${stack}\n`, { kind: 'unexpected', message: 'see standard error' }, json)
  }
}

function tell(text: string, error: object, json: boolean): void {
  process.stderr.write(`fvs: ${printableLines(text)}`)
  if (json) process.stdout.write(`${printableJson({ error })}\n`)
}

/**
 * Ends the process silently once nobody reads its output any more, as after `| head -1`. The output is a
 * report after the work, so the exit code stays.
 */
export function endWithReader(
  { stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>,
  end: () => void,
): void {
  const isClosed = (error: NodeJS.ErrnoException) => error.code === 'EPIPE'
  stdout.on('error', (error) => {
    if (!isClosed(error)) throw error
    end()
  })
  // Do not end here: the rest of the report may still have a reader.
  stderr.on('error', (error) => {
    if (!isClosed(error)) throw error
  })
}
