// Lines that go into a stage, the text that comes out of it, and the columns that docs/spark.md gives them.
import type { Input } from '../../pipeline/release/stage/lines.ts'
import { QUESTION_COLUMNS } from '../../pipeline/scoring/pairs.ts'
import { PAIR_METRICS } from '../../schemas/metrics.ts'
import { textOf as pageText } from './fenced-blocks.ts'

/** The input of a stage, in pieces that end anywhere. */
export async function* inputOf(text: string, pieceBytes = 1000): Input {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

export async function textOf(lines: AsyncIterable<string>): Promise<string> {
  return (await Array.fromAsync(lines)).join('')
}

/** The columns that docs/spark.md gives the lines of each stage: those that it reads, or those that it prints. */
export function documentedColumns(side: 'reads' | 'prints'): Map<string, string[]> {
  const page = pageText('docs/spark.md')
  const groups = { facts: Object.keys(QUESTION_COLUMNS), numbers: Object.keys(PAIR_METRICS) }
  for (const [name, columns] of Object.entries(groups)) {
    const [, written] = new RegExp(`^- _${name}_: ([a-z_\\s]+)`, 'm').exec(page)!
    if (written!.trim().split(/\s+/).join() !== columns.join())
      throw new Error(`docs/spark.md: ${name} differ`)
  }
  const [, table] = page.split(new RegExp(`^\\| stage +\\| ${side} .*\n`, 'm'))
  const rows = table!.split('\n\n')[0]!.matchAll(/^\| `([a-z ]+)` +\| ([^|]+?) +\|/gm)
  return new Map(
    [...rows].map(([, stage, columns]) => [
      stage!,
      columns!.split(' ').flatMap((name) => groups[name.slice(1, -1) as keyof typeof groups] ?? [name]),
    ]),
  )
}

/** The columns that a stage names when it is given a line of one field. */
export async function columnsRead(refused: Promise<unknown>): Promise<string[]> {
  const message = await refused.then(
    () => '',
    (error: Error) => error.message,
  )
  return /and not \d+: (.*)$/.exec(message)![1]!.split(', ')
}
