// Tables in pages of the documentation and the benchmarks, for tests that hold them to what happens.
import { textOf } from './fenced-blocks.ts'

/** The cells of the first table under a heading of a page, whose path begins at the root; without the line under its head. */
export function tableUnder(page: string, heading: string): string[][] {
  const lines = textOf(page).split(`\n${heading}\n`)[1]!.split('\n')
  const first = lines.findIndex((line) => line.startsWith('|'))
  return lines
    .slice(first, lines.indexOf('', first))
    .filter((line) => !/^\| -+ \|/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}
