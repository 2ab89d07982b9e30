// The place of every path in a copy of a store. It decides the order of copying, what a copy takes only up to
// the horizon, and what it leaves out.
import { TABLE_NAMES } from '../../schemas/tables.ts'
import { TILE_PATH, TILE_WIDTH } from '../proof/tiles.ts'
import { PEOPLE_PREFIX, lastCheckpointPath } from '../store/paths.ts'

/**
 * The kinds of objects in the order in which a copy writes them: an object comes after those that it names.
 * So a copy that is cut off is a store that is a little older.
 *
 * A `fact` is an object that nobody names, such as a key; objects at unknown paths are facts. `state` records
 * how far something is. It is read before everything else and written last, so that it is never ahead.
 */
export const ORDER = [
  'inbox',
  'fact',
  'erasure',
  'file',
  'intake',
  'commit',
  'import',
  'plan',
  'release',
  'snapshot',
  'log',
  'credentials',
  'feed',
  'state',
] as const
export type Place = (typeof ORDER)[number]

/**
 * Whether objects of a place are numbered. They are written in order, so a copy that was cut off has the
 * first of them without a gap.
 */
export const isNumbered = (place: Place): boolean => ORDER.indexOf(place) >= ORDER.indexOf('commit')

/**
 * Objects without a place, by the beginning of their paths. A process writes probes for itself. A claim only
 * serves to repeat a call, for two days. An offer that no finished version took in counts for nothing. The
 * sandbox is a store of its own.
 */
const LEFT_OUT = /^(?:probe|idempotency|offers|sandbox)\/|^copy\.json$|^releases\/\d+\/tally-/

/** The first expression that matches decides. */
const PLACES: readonly (readonly [RegExp, Place])[] = [
  [/^inbox\//, 'inbox'],
  [/^tables\/\w+\/_delta_log\/_last_checkpoint$/, 'state'],
  [/^(?:deliveries\/|rationales\/published\.json$|simulation-round\.json$)/, 'state'],
  // Each change of a name deletes the earlier object.
  [/^people\//, 'state'],
  // A note of a retirement, a name or an owner goes only after the table has it.
  [/^registry\/(?:retired|retiring|renaming|owner-claims)\//, 'state'],
  [/^tables\/\w+\/_delta_log\//, 'commit'],
  [/^tables\/\w+\/recorded_date=/, 'file'],
  [/^intake\//, 'intake'],
  [/^(?:imports|undone-imports)\/\w+\/\d+\.json$/, 'import'],
  // Plans name these records, and nothing deletes them.
  [/^erased-people\//, 'erasure'],
  [/^releases\/\d+\/plan\.json$/, 'plan'],
  [/^releases\/\d+\/(?:manifest|thinned)\.json$/, 'release'],
  [/^snapshots\/[^/]+\/manifest\.json$/, 'snapshot'],
  [/^log\/(?:checkpoints|cosignatures)\//, 'log'],
  [/^credentials\/\d+\.json$/, 'credentials'],
  [/^feed\//, 'feed'],
  [/^(?:releases|snapshots|credentials)\/[^/]+\/|^log\/tile\//, 'file'],
]

/** The beginnings of the paths of `state`, so that a copy finds these objects without listing everything. */
export const STATE_PREFIXES: readonly string[] = [
  'deliveries/',
  PEOPLE_PREFIX,
  'registry/',
  'rationales/published.json',
  'simulation-round.json',
  ...TABLE_NAMES.map(lastCheckpointPath),
]

/** Returns the place of an object; undefined if no copy has it. */
export function placeOf(path: string): Place | undefined {
  if (LEFT_OUT.test(path)) return undefined
  return PLACES.find(([pattern]) => pattern.test(path))?.[1] ?? 'fact'
}

/** Whether an object at this path never changes, so that its size tells whether a copy has it. */
export function isFixed(path: string, place: Place): boolean {
  return place !== 'fact' && place !== 'state' && !path.endsWith('.checkpoint.parquet')
}

/** The last finished number of everything that is numbered, at one instant. */
export interface Horizon {
  /** The versions of the tables; -1 for a table that does not exist. */
  tables: Readonly<Record<string, number>>
  release: number
  /** The days that have a snapshot. */
  snapshots: ReadonlySet<string>
  /** The entries of the public log. */
  logged: number
  /** The last issue of credentials. */
  issue: number
  /** The last segment of the feed. */
  segment: number
}

/**
 * Whether an object is within the horizon. A copy takes no others, so that none of its objects names one that
 * it lacks.
 */
export function isWithin(
  path: string,
  { tables, release, snapshots, logged, issue, segment }: Horizon,
): boolean {
  const [, table, version] =
    /^(?:intake|imports|undone-imports)\/(\w+)\/(\d+)\.json$/.exec(path) ??
    /^tables\/(\w+)\/_delta_log\/(\d{20})\./.exec(path) ??
    []
  if (table !== undefined) return Number(version) <= (tables[table] ?? -1)
  const [, folder, name] = /^(\w+)\/([^/.]+)/.exec(path) ?? []
  if (folder === 'releases') return Number(name) <= release
  if (folder === 'snapshots') return snapshots.has(name!)
  if (folder === 'credentials') return Number(name) <= issue
  if (folder === 'feed') return Number(name) <= segment
  if (folder === 'log') return lastEntryOf(path) <= logged
  return true
}

/** Returns how many entries a log must have to contain this object. */
function lastEntryOf(path: string): number {
  const size = /^log\/(?:checkpoints|cosignatures)\/(\d+)/.exec(path)?.[1]
  if (size !== undefined) return Number(size)
  const [, level, , , width] = TILE_PATH.exec(path.slice('log/'.length)) ?? []
  if (level === undefined) return 0
  const index = Number(/\/((?:x\d{3}\/)*\d{3})(?:\.p\/\d+)?$/.exec(path)![1]!.replace(/\D/g, ''))
  const hashes = index * TILE_WIDTH + Number(width ?? TILE_WIDTH)
  return hashes * TILE_WIDTH ** (level === 'entries' ? 0 : Number(level))
}
