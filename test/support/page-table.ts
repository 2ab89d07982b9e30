// Tables in the pages of the documentation, for tests that hold them to what happens.
import { readFile } from 'node:fs/promises'

/** The cells of the first table under a heading of a page, without the line under its head. */
export async function tableUnder(page: string, heading: string): Promise<string[][]> {
  const text = await readFile(new URL(`../../docs/${page}`, import.meta.url), 'utf8')
  const lines = text.split(`\n${heading}\n`)[1]!.split('\n')
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
