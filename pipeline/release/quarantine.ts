// Moves aside an unreadable inbox object, intake or snapshot manifest, so that the next release goes on
// without it. Copies, records and only then deletes, so that a run may be cut off anywhere and repeated with
// the same result.
import { ServiceError } from '../../schemas/errors.ts'
import type { QuarantinedObject } from '../../schemas/manifests.ts'
import type { TableName } from '../../schemas/tables.ts'
import { type Quarantinable, deltaLogPath, quarantinableOf } from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import { assertReadable, readIntake, wasGivenUp } from '../tables/intake.ts'
import type { CompactionContext } from '../tables/data-files.ts'
import { TableLog } from '../tables/delta-log.ts'
import { giveUp, setAsideFiles } from '../tables/give-up.ts'
import { forgetAside, lookAgain, noteMade, readQuarantined, recordAside } from '../tables/quarantine.ts'
import { readSnapshotManifest } from './read.ts'

export interface Quarantined {
  object: QuarantinedObject
  /** Whether an earlier run had recorded it. */
  was_recorded: boolean
  /** The data files made with it. They were moved aside too. */
  data_files: string[]
}

type Condition = 'whole' | 'damaged' | 'gone'

/** The relation of an object to its table. */
interface Role {
  /** The next version, if it is about to take the object in or the object is its intake; otherwise null. */
  open: number | null
  /** Whether the last version has taken it in. */
  isTaken: boolean
  /** Whether the table cannot go on without it. */
  isNeeded: boolean
}
const NO_ROLE: Role = { open: null, isTaken: false, isNeeded: false }

/**
 * @throws ServiceError `invalid` for an object of another kind, `notFound` if it is missing and nothing needs
 *   it, `conflict` if it can be read or a table has taken it in.
 */
export async function quarantine(
  context: CompactionContext,
  key: string,
  reason: string,
): Promise<Quarantined> {
  const { store, local, now } = context
  const target = targetOf(key)
  const recorded = await recordOf(store, key)
  const condition = await conditionOf(context, target, key)
  const role = condition === 'whole' ? NO_ROLE : await roleOf(store, target, key)
  if (recorded === undefined) assertMovable(store, key, condition, role)
  const told = { key, at: now().toISOString(), reason, version: role.open }
  const object =
    typeof recorded === 'object' ? recorded : await recordAside(store, told, condition === 'damaged')
  const data_files: string[] = []
  for (const version of new Set([object.version, role.open])) {
    if (version !== null) data_files.push(...(await giveUpVersion(context, target, { ...object, version })))
  }
  if (condition === 'damaged') {
    await local.forget(key)
    await store.delete(key)
  }
  return { object, was_recorded: typeof recorded === 'object', data_files }
}

function targetOf(key: string): Quarantinable {
  const target = quarantinableOf(key)
  if (target) return target
  throw new ServiceError(
    'invalid',
    `${JSON.stringify(key)} cannot be moved aside: only inbox objects (inbox/TABLE/NAME.parquet, offers/TABLE/NAME.parquet), intakes ` +
      '(intake/TABLE/NUMBER.json) and snapshot manifests (snapshots/DAY/manifest.json) can. Restore anything else from a ' +
      'backup: its hash says when it is right',
  )
}

/** Returns the record of an earlier run; undefined if there is none, `damaged` if it cannot be read. */
async function recordOf(store: Store, key: string): Promise<QuarantinedObject | 'damaged' | undefined> {
  try {
    return await readQuarantined(store, key)
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'corrupt') return 'damaged'
    throw error
  }
}

async function conditionOf(
  context: CompactionContext,
  target: Quarantinable,
  key: string,
): Promise<Condition> {
  const look = async (): Promise<Condition | undefined> => {
    try {
      return (await isThere(context, target, key)) ? 'whole' : undefined
    } catch (error) {
      if (error instanceof ServiceError && error.kind === 'corrupt') return 'damaged'
      if (error instanceof ServiceError && error.kind === 'notFound') return undefined
      throw error
    }
  }
  return (await lookAgain(context.wait, look)) ?? 'gone'
}

/** @throws ServiceError `corrupt` if it cannot be read. */
async function isThere(context: CompactionContext, target: Quarantinable, key: string): Promise<boolean> {
  const { store } = context
  switch (target.kind) {
    case 'inbox':
      await assertReadable(context, target.table, key)
      return true
    case 'intake':
      return (await readIntake(store, target.table, target.version)) !== undefined
    case 'snapshot':
      return (await readSnapshotManifest(store, target.date)) !== undefined
  }
}

/** @throws ServiceError `corrupt` for an intake that must be moved aside first. */
async function roleOf(store: Store, target: Quarantinable, key: string): Promise<Role> {
  if (target.kind === 'snapshot') return NO_ROLE
  const { table } = target
  const log = new TableLog(store, table)
  await log.refresh()
  const last = log.current
  const open = last.version + 1
  const isMade = last.version > 0 && !(await wasGivenUp(store, last))
  if (target.kind === 'intake') {
    // The intake of the last version must be known until the next one is decided.
    const isNeeded = isMade && target.version === last.version
    return { open: target.version === open ? open : null, isTaken: false, isNeeded }
  }
  if ((await readIntake(store, table, open))?.includes(key)) return { open, isTaken: false, isNeeded: true }
  const takenIn = isMade ? await readIntake(store, table, last.version) : undefined
  return { ...NO_ROLE, isTaken: takenIn?.includes(key) ?? false }
}

function assertMovable(store: Store, key: string, condition: Condition, { isTaken, isNeeded }: Role): void {
  if (condition === 'whole') {
    throw new ServiceError(
      'conflict',
      `${key} can be read on this machine, so it is not moved aside: what it holds would be lost. Run fvs release here`,
    )
  }
  if (isTaken) throw alreadyTaken(key)
  if (condition === 'gone' && !isNeeded) {
    throw new ServiceError(
      'notFound',
      `${key} is not in ${store.url}, and nothing waits for it: there is nothing to move aside`,
    )
  }
}

function alreadyTaken(key: string): ServiceError {
  return new ServiceError(
    'conflict',
    `${key} is not moved aside: its rows are in the table, and the next release removes what is left of it`,
  )
}

/**
 * Gives up the version that was about to take in the object. Returns the data files made for that version.
 */
async function giveUpVersion(
  context: CompactionContext,
  target: Quarantinable,
  object: QuarantinedObject & { version: number },
): Promise<string[]> {
  const { store } = context
  if (target.kind === 'snapshot') return []
  const { table } = target
  const intake = target.kind === 'inbox' ? await readIntake(store, table, object.version) : []
  await recordLost(context, table, object, intake ?? [])
  if (await giveUp(context, table, object.version)) return setAsideFiles(context, table, object)
  // Another run, which had read everything before, has made the version.
  if (target.kind === 'intake') {
    await noteMade(store, object)
    return []
  }
  for (const key of intake ?? []) {
    if ((await readQuarantined(store, key))?.version === object.version) await forgetAside(store, key)
  }
  throw alreadyTaken(object.key)
}

/**
 * Records all other objects of an intake that are gone, because nothing else names them once its version is
 * given up.
 */
async function recordLost(
  { store, local, wait }: CompactionContext,
  table: TableName,
  { key, at, reason, version }: QuarantinedObject & { version: number },
  intake: readonly string[],
): Promise<void> {
  if (await store.range(deltaLogPath(table, version), 0, 1)) return
  const firstByteOf = (path: string) => store.range(path, 0, 1)
  for (const path of intake) {
    if (path === key || (await lookAgain(wait, () => firstByteOf(path)))) continue
    await recordAside(
      store,
      { key: path, at, reason: `gone when ${key} was moved aside: ${reason}`, version },
      false,
    )
    await local.forget(path)
  }
}
