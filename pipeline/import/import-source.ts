// Imports the files of a platform as one import: reads them all, makes our rows of theirs, and imports these.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ByColumn } from './changed.ts'
import { IMPORT_COLUMNS, type ImportKind } from './columns.ts'
import { type Effect, type ImportPart, type ImportWork, setVariables } from './compare.ts'
import { importParts, tryParts } from './import.ts'
import { defineStaged } from './leave-out.ts'
import { rememberSecret, secretOfSource } from './namespace.ts'
import { parseOptions } from './options.ts'
import { NONE_REJECTED, type Rejected } from './rejected.ts'
import type { ImportSource } from './source.ts'
import { type SourceFile, readSourceFiles } from './source-files.ts'
import { type Keyed, type RowCounts, countRows, kindsOf, originsOf, stageRows } from './source-rows.ts'
import { defineIdentified } from './values.ts'
import { onKnown } from './waiting.ts'

/** The rows of one meaning in one file: `read` = `taken` + `repeated` + the rows that were left out. */
export interface ReadRows {
  file: string
  /** The kind of the rows, or their meaning where one file gives several of a kind. */
  rows: string
  read: number
  taken: number
  repeated: number
  leftOut: { reason: string; count: number; examples: string[] }[]
  /** The rows that were taken with another text than the platform's, by column. */
  altered: ByColumn
}

export interface SourceImport {
  files: SourceFile[]
  read: ReadRows[]
  /** The effects of the rows that were taken, or their effects if they are imported. */
  effects: (Effect & { bad?: Rejected })[]
  /** The secret from which the ids of people follow, if they follow from one. */
  idsSecret: string | undefined
  /** The rows that were read. They can be imported again, into another store. */
  parts: ImportPart[]
}

/**
 * Imports the files of a platform, all or nothing. A trial writes nothing.
 *
 * @throws ServiceError `invalid` for files that cannot be read or are of another platform, and for a row that
 *   was taken and that the checks of an import refuse. `conflict` without the secret from which the ids of
 *   people of the platform follow. `unavailable` if the store does not answer: importing
 *   the same files again is safe.
 */
export async function importSource(
  context: ImportWork & Keyed,
  source: ImportSource,
  paths: readonly string[],
  isTrial: boolean,
): Promise<SourceImport> {
  const { database, progress = () => {} } = context
  const directory = join(context.directory, 'source')
  await mkdir(directory, { recursive: true })
  progress('reading the files')
  const files = await readSourceFiles({ database, directory }, source, paths)
  progress('making rows')
  const idsSecret = await onKnown(context, () => secretOfSource(context, source, context.idsSecret))
  await stageRows(database, source, { now: context.now(), idsSecret })
  const parts = kindsOf(source).map((kind) => partOf(context, source, kind, files))
  // If the import is cut off, the next one must know how the ids of its rows were made.
  if (!isTrial && idsSecret !== undefined) await rememberSecret(context.store, source.namespace, idsSecret)
  const effects: (Effect & { bad?: Rejected })[] = isTrial
    ? await tryParts(context, parts)
    : await importParts(context, parts)
  const read = await reported(source, files, await countRows(database, source))
  return { files, read, effects: effects.filter(({ rows }) => rows > 0), idsSecret, parts }
}

function partOf(
  context: ImportWork,
  { name }: ImportSource,
  kind: ImportKind,
  files: readonly SourceFile[],
): ImportPart {
  const { database } = context
  const options = parseOptions(kind, {})
  return {
    kind,
    name: `the ${kind} of ${name}`,
    options,
    leavesOut: true,
    read: async () => {
      await setVariables(context, options)
      await defineStaged(database, kind)
      await defineIdentified(database, IMPORT_COLUMNS[kind], options)
      const placesOf = async (records: readonly number[]) =>
        placesIn(files, await originsOf(database, kind, records))
      return { rejected: NONE_REJECTED, placesOf }
    },
  }
}

/** Names records by their files and their places there. */
async function placesIn(
  files: readonly SourceFile[],
  origins: readonly { file: number; record: number }[],
): Promise<string[]> {
  const places = new Map<string, string>()
  for (const [index, { name, placesOf }] of files.entries()) {
    const records = origins.filter(({ file }) => file === index).map(({ record }) => record)
    const sorted = [...new Set(records)].toSorted((one, other) => one - other)
    const found = await placesOf(sorted)
    for (const [at, record] of sorted.entries()) places.set(`${index} ${record}`, `${name} ${found[at]}`)
  }
  return origins.map(({ file, record }) => places.get(`${file} ${record}`)!)
}

async function reported(
  source: ImportSource,
  files: readonly SourceFile[],
  counts: readonly RowCounts[],
): Promise<ReadRows[]> {
  const origins = counts.flatMap(({ file, leftOut }) =>
    leftOut.flatMap(({ first }) => first.map((record) => ({ file, record }))),
  )
  const places = await placesIn(files, origins)
  let at = 0
  return counts.map(({ file, rows, taken, repeated, leftOut, altered }) => {
    const { kind, label = kind } = source.rows[rows]!
    const reasons = leftOut.map(({ reason, count, first }) => ({
      reason,
      count,
      examples: places
        .slice(at, (at += first.length))
        .map((place) => place.slice(files[file]!.name.length + 1)),
    }))
    const read = taken + repeated + leftOut.reduce((sum, { count }) => sum + count, 0)
    return { file: files[file]!.name, rows: label, read, taken, repeated, leftOut: reasons, altered }
  })
}
