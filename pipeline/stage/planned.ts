// The common part of the stages that publish: the plan by which they work, and the lines that they print.
import { ServiceError } from '../../schemas/errors.ts'
import { signatureOf } from '../proof/hmac.ts'
import { writerOf } from '../release/commit.ts'
import { type categoryEntries, placeInCategory } from '../release/categories.ts'
import { placeOf } from '../release/leaderboard.ts'
import type { ListedEntity, Provenance } from '../release/payloads.ts'
import { type ReleasePlan, ownPlan } from '../release/plan.ts'
import { type LargeFile, type OutputFile, type SignBytes, bodyOf } from '../release/shards.ts'
import type { ReleaseContext } from '../release/state.ts'
import { type Fields, type Format, type Input, lineOf, linesIn } from './lines.ts'
import { type FileFacts, describe } from './staged-file.ts'

export interface Planned {
  release: number
  plan: ReleasePlan
  provenance: Provenance
  sign: SignBytes
  /**
   * Puts a file, and returns the line that describes it. @throws ServiceError `conflict` if another run has
   * published the release.
   */
  put: (file: OutputFile | LargeFile, facts?: FileFacts) => Promise<string>
}

/** @throws ServiceError as `ownPlan` does. */
export async function planned(context: ReleaseContext, release: number): Promise<Planned> {
  const { store, secrets } = context
  const plan = await ownPlan(context, release)
  const { methodology_version, as_of, environment } = plan
  const write = writerOf(store, release)
  return {
    release,
    plan,
    provenance: { methodology_version, release, as_of, environment },
    sign: (bytes) => (secrets ? signatureOf(bytes, secrets) : null),
    async put(file, facts = {}) {
      if (!(await write(file.path, bodyOf(file)))) {
        throw new ServiceError('conflict', `another run has published release ${release}`)
      }
      return lineOf(['file', null, null, null, null, null, null, null, JSON.stringify(describe(file, facts))])
    },
  }
}

/** Returns the line of an entity, from which later stages make leaderboards and owners. */
export function entityLine(entity: ListedEntity): string {
  const { entityType, entityId, ownerId } = entity
  const { pool_size, pool, value } = placeOf(entity.metrics)
  const owner = ownerId === null ? null : orderedOwner(ownerId)
  return lineOf(['entity', entityType, entityId, pool_size, pool, value, owner, null, JSON.stringify(entity)])
}

/** Returns the line of an entity in a category, from which a later stage makes the boards by category. */
export function categoryLine({ category, entry }: ReturnType<typeof categoryEntries>[number]): string {
  const { entityType, entityId } = entry
  const { pool_size, pool, value } = placeInCategory(entry)
  const place = [pool_size, pool, value]
  return lineOf(['category', entityType, entityId, ...place, null, category, JSON.stringify(entry)])
}

/** Encodes an owner in hexadecimal digits that sort as its UTF-16 code units do. */
function orderedOwner(owner: string): string {
  return Buffer.from(owner, 'utf16le').swap16().toString('hex')
}

/** Makes the file of a unit from its lines. */
interface Unit {
  take(fields: Fields): void | Promise<void>
  /** Returns the lines to print. */
  end(): Promise<string>
}

/**
 * Begins a unit with the first of the lines that agree in some columns, the first one where none is said, and
 * ends it after the last of them.
 */
export async function* unitsIn<Name extends string>(
  input: Input,
  format: Format<Name>,
  begin: (first: Fields) => Unit | Promise<Unit>,
  columns: readonly NoInfer<Name>[] = format.columns.slice(0, 1),
): AsyncIterable<string> {
  const places = columns.map((name) => format.at[name])
  let first: Fields | undefined
  let unit: Unit | undefined
  for await (const lines of linesIn(input, format)) {
    for (const fields of lines) {
      if (!unit || places.some((place) => fields[place] !== first![place])) {
        if (unit) yield await unit.end()
        first = fields
        unit = await begin(fields)
      }
      const taken = unit.take(fields)
      if (taken) await taken
    }
  }
  if (unit) yield await unit.end()
}
