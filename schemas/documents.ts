// Generates tables of the documentation from the schemas. `npm run schemas` writes them into the pages.
import { z } from 'zod'
import { SANDBOX_PREFIX, settings } from './config.ts'

/**
 * Replaces, for each name, the text between the name's marks in a page.
 *
 * @throws Error if the page lacks the marks of a name.
 */
export function withGenerated(page: string, parts: Record<string, string>): string {
  return Object.entries(parts).reduce((text, [name, part]) => {
    const begin = `<!-- ${name}: written by npm run schemas -->`
    const end = `<!-- end of ${name} -->`
    const [before, rest] = text.split(begin)
    const after = rest?.split(end)[1]
    if (after === undefined) throw new Error(`the page has no ${begin} … ${end}`)
    return `${before}${begin}\n\n${part}\n${end}${after}`
  }, page)
}

interface Described {
  description?: string
  default?: string | number | unknown[]
  minimum?: number
  maximum?: number
  enum?: string[]
}

function settingsText(): string {
  const { properties } = z.toJSONSchema(settings, { unrepresentable: 'any' })
  const all = Object.entries(properties as Record<string, Described>)
  const sandbox = all.filter(([name]) => name.startsWith(SANDBOX_PREFIX))
  const others = all.filter((setting) => !sandbox.includes(setting))
  const production = Object.fromEntries(others)
  const differing = sandbox.filter(
    ([name, setting]) => defaultOf(setting) !== defaultOf(production[name.slice(SANDBOX_PREFIX.length)]!),
  )
  const names = sandbox.map(([name]) => `\`${name}\``).join(',\n')
  return `${markdownTable(
    ['setting', 'default', 'range', 'what it is'],
    others.map(([name, setting]) => [
      `\`${name}\``,
      defaultOf(setting),
      rangeOf(setting),
      setting.description ?? '',
    ]),
  )}
The sandbox has settings of its own:
${names}.
Each means the same as the setting without \`${SANDBOX_PREFIX}\`. The default is the same too, except for these:

${markdownTable(
  ['setting', 'default'],
  differing.map(([name, setting]) => [`\`${name}\``, defaultOf(setting)]),
)}`
}

function defaultOf({ default: value }: Described): string {
  return value === undefined || Array.isArray(value) ? 'none' : `\`${value}\``
}

function rangeOf({ minimum, maximum, enum: values }: Described): string {
  if (values) return values.map((value) => `\`${value}\``).join(', ')
  return minimum === undefined || maximum === undefined
    ? ''
    : `${minimum.toLocaleString('en')} to ${maximum.toLocaleString('en')}`
}

/** A Markdown table whose columns are aligned. */
function markdownTable(header: readonly string[], rows: readonly string[][]): string {
  const widths = header.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]!.length)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |\n`
  return line(header) + line(widths.map((width) => '-'.repeat(width))) + rows.map(line).join('')
}

/** For each page, the text between the marks of each name. */
export const GENERATED: Record<string, Record<string, string>> = {
  'docs/settings.md': { settings: settingsText() },
}
