// Copies a store while others work on it, to a backup or back from one. The copy shows the store at an
// instant, or as a crash would have left it. The next copy finishes one that was cut off.
import pMap from 'p-map'
import { ServiceError } from '../../schemas/errors.ts'
import { type Store, type StoredObject } from '../store/store.ts'
import { thinnedPath } from '../store/paths.ts'
import { deleteGone } from './deletions.ts'
import { ExpectedContents, isDamaged } from './expected.ts'
import { type Finished, assertContinues, readFinished } from './finished.ts'
import { ORDER, type Place, STATE_PREFIXES, isFixed, isNumbered, isWithin, placeOf } from './place.ts'
import { type Transfer, put, readOf, transfer } from './transfer.ts'

const COPIES_AT_ONCE = 8
/** The most passes. A store whose objects go faster than they are copied cannot be copied. */
const PASSES = 3
/** The most by which the clocks of two stores may differ. */
const CLOCKS_APART_MS = 60 * 60_000

export interface CopyContext extends Transfer {
  /** Whether to delete from the copy the objects that the store has deleted. */
  deletes: boolean
  /** Whether to compare the bytes of all objects, not only of those that may have changed. */
  comparesAll: boolean
  /** Called with the number of finished objects and the number of all. */
  progress: (done: number, all: number) => void
}

export interface CopyReport {
  copied: number
  copied_bytes: number
  unchanged: number
  deleted: number
  /** The objects that the store has lost or damaged. */
  faults: string[]
}

type ByPath = ReadonlyMap<string, StoredObject>

/**
 * Copies a store over its earlier copy, or to an empty place.
 *
 * @throws ServiceError `conflict` if another store is there; `unavailable` if a store does not answer, or if
 *   objects go again and again while they are copied.
 */
export async function copyStore(context: CopyContext): Promise<CopyReport> {
  const { from, to } = context
  await assertContinues(from, to)
  for (let pass = 1; ; pass++) {
    const copy = new Copy(context, await objectsByPath(to))
    await copy.run()
    const [gone] = copy.gone
    if (gone === undefined) return copy.report
    if (pass < PASSES) continue
    throw new ServiceError(
      'unavailable',
      `${gone} and ${copy.gone.length - 1} other objects of ${from.url} went while they were copied; run again`,
    )
  }
}

class Copy {
  readonly report: CopyReport = { copied: 0, copied_bytes: 0, unchanged: 0, deleted: 0, faults: [] }
  /** Objects that the copy needs, but that went while they were copied. */
  readonly gone: string[] = []
  readonly #context: CopyContext
  /** The objects of the copy before this pass. */
  readonly #had: ByPath
  #done = 0
  #all = 0

  constructor(context: CopyContext, had: ByPath) {
    this.#context = context
    this.#had = had
  }

  async run(): Promise<void> {
    const { from, to, deletes } = this.#context
    const state = await readState(from)
    // List the inbox before reading what is finished: rows that leave the inbox in between are in a version
    // of the table.
    const inbox = await objectsByPath(from, 'inbox/')
    await this.#copyAll('inbox', [...inbox.values()], new ExpectedContents(from, new Map()))
    const finished = await readFinished(from)
    const there = await objectsByPath(from)
    await this.#copyFinished(finished, there)
    for (const [path, bytes] of state) await this.#writeState(path, bytes)
    // Delete nothing while the copy lacks something.
    if (!deletes || this.gone.length > 0) return
    const kept = new Set([...there.keys(), ...inbox.keys(), ...state.keys()])
    const { deleted, lost } = await deleteGone(to, [...this.#had.keys()], kept, finished)
    this.report.deleted = deleted
    this.report.faults.push(...lost)
  }

  async #copyFinished(finished: Finished, there: ByPath): Promise<void> {
    const expected = new ExpectedContents(this.#context.from, finished.dataFiles)
    const toCopy = this.#toCopy(finished, there)
    for (const place of ORDER) {
      for (const path of await this.#copyAll(place, toCopy[place], expected)) {
        const release = /^releases\/(\d+)\/.+\//.exec(path)?.[1]
        if (release !== undefined) {
          // Retention writes this note before it deletes a file.
          const note = thinnedPath(Number(release))
          if (!there.has(note)) toCopy.release.push({ path: note, sizeBytes: 0, modifiedAt: new Date(0) })
        } else if (isNeeded(path, place, finished)) this.gone.push(path)
      }
    }
  }

  /** Returns the objects that the copy lacks or may have with other bytes, in the order of the paths. */
  #toCopy(finished: Finished, there: ByPath): Record<Place, StoredObject[]> {
    const toCopy = Object.fromEntries(ORDER.map((place) => [place, [] as StoredObject[]]))
    for (const object of there.values()) {
      const place = placeOf(object.path)
      if (place === undefined || place === 'inbox' || place === 'state') continue
      if (!isWithin(object.path, finished)) continue
      toCopy[place]!.push(object)
    }
    this.#all += Object.values(toCopy).reduce((sum, objects) => sum + objects.length, 0)
    return toCopy as Record<Place, StoredObject[]>
  }

  /** Copies objects of one place. Returns those that have gone. */
  async #copyAll(
    place: Place,
    objects: readonly StoredObject[],
    expected: ExpectedContents,
  ): Promise<string[]> {
    const gone: string[] = []
    const copy = async (object: StoredObject) => {
      if (this.#mayBeCopied(object, place)) this.report.unchanged += 1
      else if (!(await this.#copyOne(object, expected))) gone.push(object.path)
      // The number of all objects is known only after the inbox.
      if (place !== 'inbox') this.#context.progress((this.#done += 1), this.#all)
    }
    await pMap(objects, copy, { concurrency: isNumbered(place) ? 1 : COPIES_AT_ONCE })
    return gone
  }

  /** Whether an object and its copy are the same by their sizes and times. */
  #mayBeCopied({ path, sizeBytes, modifiedAt }: StoredObject, place: Place): boolean {
    const had = this.#had.get(path)
    if (this.#context.comparesAll || had?.sizeBytes !== sizeBytes) return false
    return isFixed(path, place) || had.modifiedAt.getTime() - modifiedAt.getTime() > CLOCKS_APART_MS
  }

  /** Returns false for an object that has gone. */
  async #copyOne({ path, sizeBytes }: StoredObject, expected: ExpectedContents): Promise<boolean> {
    const isThere = this.#had.get(path)?.sizeBytes === sizeBytes
    const known = await expected.of(path)
    const done = await transfer(this.#context, { path, sizeBytes, expected: known, isDamaged, isThere })
    if (done === 'damaged')
      this.report.faults.push(`${path} is damaged in ${this.#context.from.url}, and not copied`)
    if (done === 'same') this.report.unchanged += 1
    if (done === 'copied') this.#count(sizeBytes)
    return done !== 'gone'
  }

  async #writeState(path: string, bytes: Uint8Array): Promise<void> {
    const { to } = this.#context
    const had = this.#had.has(path) ? await to.get(path) : undefined
    if (had && Buffer.compare(had, bytes) === 0) {
      this.report.unchanged += 1
      return
    }
    await put(to, path, readOf(bytes))
    this.#count(bytes.byteLength)
  }

  #count(sizeBytes: number): void {
    this.report.copied += 1
    this.report.copied_bytes += sizeBytes
  }
}

/** Whether a copy without this object would lack something that its other objects name. */
function isNeeded(path: string, place: Place, { dataFiles }: Finished): boolean {
  // Compaction takes objects out of the inbox, and facts may be deleted at any time.
  if (place === 'inbox' || place === 'fact' || path.startsWith('credentials/')) return false
  // Data files of a given-up version are deleted, so the copy needs only files that a table names.
  return !path.startsWith('tables/') || place !== 'file' || dataFiles.has(path)
}

/** Reads all objects of the place `state`. */
async function readState(store: Store): Promise<Map<string, Uint8Array>> {
  const state = new Map<string, Uint8Array>()
  for (const prefix of STATE_PREFIXES) {
    for await (const { path } of store.list(prefix, '', (listedPath) => placeOf(listedPath) === 'state')) {
      const bytes = await store.get(path)
      if (bytes) state.set(path, bytes)
    }
  }
  return state
}

async function objectsByPath(store: Store, prefix = ''): Promise<ByPath> {
  const objects = new Map<string, StoredObject>()
  for await (const object of store.list(prefix)) objects.set(object.path, object)
  return objects
}
