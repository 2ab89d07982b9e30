// The private files in which a release passes its pairs on: finds those that the next release can build on,
// and makes the new ones.
import { ServiceError } from '../../schemas/errors.ts'
import type { CarriedFile, ReleaseManifest } from '../../schemas/manifests.ts'
import { Database } from '../duckdb.ts'
import {
  type CarriedPaths,
  pairsBetween,
  sweptCounts,
  sweptIsAll,
  sweptPairs,
  writeNames,
  writePairs,
} from '../engine/carried.ts'
import type { OrderedWorld } from '../engine/duckdb-engine.ts'
import type { Since } from '../engine/since.ts'
import { sha256Hex } from '../proof/canonical.ts'
import { pairsPath, releasePrefix } from '../store/paths.ts'
import type { FilesInTurn } from './files-in-turn.ts'
import type { ReleasePart } from './parts.ts'
import { rowsOf } from '../tables/quarantine.ts'
import type { LocalFiles } from '../store/local-files.ts'
import type { LeftOut } from '../tables/delta.ts'
import { isMoreLeftOut } from '../tables/left-out.ts'
import type { ReleaseContext } from './state.ts'

/**
 * A release writes all pairs anew rather than name more files than this, or hold more rows than this for each
 * pair that counts.
 */
const MOST_FILES = 64
const MOST_ROWS_PER_PAIR = 2
/**
 * Describes the last release for the next one to build on. Returns undefined if there is none, or, with the
 * reason in the log, if the next one must sweep every question: another make of the service made the last
 * release, it carries no pairs, or its files are not as its manifest names them.
 */
export async function sinceLast(
  { local, methodology, service, log }: Pick<ReleaseContext, 'local' | 'methodology' | 'service' | 'log'>,
  previous: ReleaseManifest | undefined,
  next: LeftOut,
): Promise<Since | undefined> {
  if (!previous) return undefined
  const { release, as_of, methodology_version, engines, tables, voice_rule: voiceRule, counts } = previous
  const sweepAll = (reason: string) => {
    log('sweeps every question', { reason })
    return undefined
  }
  if (isMoreLeftOut(previous, next)) return sweepAll('an import was undone, or a person erased')
  if (!previous.carried?.length) return sweepAll(`release ${release} carries no pairs`)
  if (
    methodology_version !== methodology.version ||
    engines.duckdb !== Database.version ||
    engines.service !== service
  ) {
    return sweepAll(`another method or version made release ${release}`)
  }
  try {
    const carried = await carriedPaths(local, previous.carried)
    return { asOf: new Date(as_of), tables, voiceRule, forecasts: counts.forecasts, carried }
  } catch (error) {
    if (!(error instanceof ServiceError && ['corrupt', 'notFound'].includes(error.kind))) throw error
    return sweepAll(error.message)
  }
}

/** @throws ServiceError `notFound` or `corrupt` for a file that is missing or differs from its entry. */
export async function carriedPaths(
  local: LocalFiles,
  files: readonly CarriedFile[],
): Promise<CarriedPaths[]> {
  const found = new Map<number, CarriedPaths & { pairs: string[] }>()
  for (const { release, path, sha256, size_bytes: sizeBytes } of files) {
    const file = await local.path(releasePrefix(release) + path, { sha256, sizeBytes })
    if (path === pairsPath(0)) found.set(release, { release, names: file, pairs: [] })
    else if (found.has(release)) found.get(release)!.pairs.push(file)
    else throw new ServiceError('corrupt', `${path} of release ${release} is named without ${pairsPath(0)}`)
  }
  return [...found.values()]
}

export interface CarriedOutput {
  entry: CarriedFile
  bytes: Uint8Array
}

export interface Carried {
  /** The files of earlier releases that still count. */
  kept: readonly CarriedFile[]
  /** The files of this release. */
  made: () => AsyncIterable<CarriedOutput>
}

/**
 * Decides what a release carries. After a full sweep, with too many files, or when half of the rows are dead,
 * it writes all pairs anew, one file for each part of the scores that has pairs, numbered from 1. Otherwise
 * it keeps the earlier files, and writes only the swept pairs. `inTurn` writes the files of pairs.
 */
export async function carriedBy(
  { database }: { database: Database },
  world: Pick<OrderedWorld, 'pairs' | 'isBase' | 'isSweptInFull'>,
  scoreParts: readonly ReleasePart[],
  release: number,
  before: readonly CarriedFile[],
  inTurn: FilesInTurn,
): Promise<Carried> {
  const nothing = { kept: [], async *made() {} }
  if (!world.isBase) return nothing
  const swept = await sweptCounts(database)
  if (!world.isSweptInFull && swept.questions === 0) return { ...nothing, kept: before }
  const rows = before
    .filter(({ path }) => path !== pairsPath(0))
    .reduce((sum, file) => sum + file.rows, swept.pairs)
  const isWhole =
    world.isSweptInFull ||
    before.length + 2 > MOST_FILES ||
    rows > MOST_ROWS_PER_PAIR * Math.max(1, world.pairs)
  if (isWhole) await sweptIsAll(database)
  const pieces = isWhole
    ? scoreParts.map(({ firstPair, pairs }) => ({ pairs, rows: pairsBetween(firstPair, firstPair + pairs) }))
    : [{ pairs: swept.pairs, rows: sweptPairs() }]
  const files = pieces
    .map((piece, index) => ({ ...piece, path: pairsPath(index + 1) }))
    .filter(({ pairs }) => pairs > 0)
    .map(({ path, rows: own }) => ({
      path,
      read: inTurn.add(path, (location) => writePairs(database, location, own)),
    }))
  const outputOf = (path: string, bytes: Uint8Array): CarriedOutput => {
    const described = { rows: rowsOf(bytes) ?? 0, size_bytes: bytes.byteLength, sha256: sha256Hex(bytes) }
    return { entry: { release, path, ...described }, bytes }
  }
  return {
    kept: isWhole ? [] : before,
    async *made() {
      const readNames = inTurn.add(pairsPath(0), (location) => writeNames(database, location))
      yield outputOf(pairsPath(0), await readNames())
      for (const { path, read } of files) yield outputOf(path, await read())
    },
  }
}
