// Generates tables of the documentation from the schemas. `npm run schemas` writes them into the pages.
import { z } from 'zod'
import { ENTITIES_COMMENTS, SCORES_COMMENTS } from './column-comments.ts'
import { SANDBOX_PREFIX, settings } from './config.ts'
import type { Measure } from './metric.ts'
import { ENTITY_COLUMNS, GAIN_COLUMNS, PAIR_METRICS, PUBLISHED_PAIR_METRICS } from './metrics.ts'
import { PUBLIC_TABLES, type PublicTableSpec } from './public-tables.ts'
import { REFERENCES_COMMENTS, REFERENCE_FILE_COLUMNS } from './references.ts'
import { type ColumnType, TABLE_NAMES, tableSpec } from './tables.ts'

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

const COLUMN_TYPE_WORDS: Record<ColumnType, string> = {
  uuid: 'UUID text',
  text: 'text',
  prose: 'text',
  probability: 'double',
  count: 'integer',
  day: 'date',
  time: 'time',
}

function columnsText({ columns }: Pick<PublicTableSpec, 'columns'>): string {
  return markdownTable(
    ['column', 'type', 'null', 'what'],
    columns.map(({ name: column, type, nullable, about }) => [
      `\`${column}\``,
      COLUMN_TYPE_WORDS[type],
      nullable ? 'yes' : '',
      about,
    ]),
  )
}

const METRIC_HEADER = ['column', 'type', 'unit', 'range', 'better', 'what']

function scoresText(): string {
  const about = (name: string, type: string) => [`\`${name}\``, type, '', '', '', SCORES_COMMENTS[name]!]
  return markdownTable(METRIC_HEADER, [
    ['`release`', 'integer', '', '1..', '', SCORES_COMMENTS['release']!],
    about('as_of', 'time'),
    about('entity_type', 'text'),
    about('entity_id', 'UUID text'),
    about('question_id', 'UUID text'),
    about('outcome', 'text'),
    about('resolved_at', 'time'),
    about('settled', 'boolean'),
    about('settled_at', 'time'),
    about('unit', 'text'),
    about('cluster', 'text'),
    about('week', 'text'),
    about('divisor', 'integer'),
    ...PUBLISHED_PAIR_METRICS.map((name) => {
      const metric = PAIR_METRICS[name]
      return metricRow(name, metric.per === 1 ? 'integer' : 'double', metric)
    }),
    about('witnessed', 'boolean'),
    about('contested', 'boolean'),
    about('priced', 'boolean'),
    ...GAIN_COLUMNS.map((name) => [
      `\`${name}\``,
      'integer',
      'squared error in 1e-9',
      name.endsWith('spread') ? '0..' : '',
      '',
      SCORES_COMMENTS[name]!,
    ]),
  ])
}

const PARQUET_TYPES = {
  INSTANT: 'time',
  BOOLEAN: 'boolean',
  INT32: 'integer',
  DOUBLE: 'double',
  STRING: 'text',
}

function entitiesText(): string {
  return markdownTable(METRIC_HEADER, [
    ['`release`', 'integer', '', '1..', '', ENTITIES_COMMENTS['release']!],
    ['`as_of`', 'time', '', '', '', ENTITIES_COMMENTS['as_of']!],
    ['`entity_type`', 'text', '', '', '', ENTITIES_COMMENTS['entity_type']!],
    ['`entity_id`', 'UUID text', '', '', '', ENTITIES_COMMENTS['entity_id']!],
    ['`award`', 'text', '', '', '', ENTITIES_COMMENTS['award']!],
    ['`name`', 'text', '', '', '', ENTITIES_COMMENTS['name']!],
    ...ENTITY_COLUMNS.map((column) => metricRow(column.name, PARQUET_TYPES[column.type], column)),
  ])
}

function referencesText(): string {
  return markdownTable(
    ['column', 'type', 'what'],
    REFERENCE_FILE_COLUMNS.map(({ name, type }) => [
      `\`${name}\``,
      PARQUET_TYPES[type],
      REFERENCES_COMMENTS[name]!,
    ]),
  )
}

function metricRow(
  name: string,
  type: string,
  { unit, range: [least, greatest], better, about }: Measure & { about: string },
): string[] {
  const bounded = least !== null || greatest !== null
  const range = bounded ? `${least ?? ''}..${greatest ?? ''}` : ''
  return [`\`${name}\``, type, unit, range, better === 'neither' ? '' : better, about.replaceAll('|', '\\|')]
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
  'docs/data.md': {
    ...Object.fromEntries(TABLE_NAMES.map((name) => [`columns of ${name}`, columnsText(tableSpec(name))])),
    ...Object.fromEntries(
      Object.entries(PUBLIC_TABLES).map(([name, spec]) => [`columns of public ${name}`, columnsText(spec)]),
    ),
    'columns of scores': scoresText(),
    'columns of entities': entitiesText(),
    'columns of references': referencesText(),
  },
}
