// The files of releases that a node has opened, all with one budget of memory. Whatever is read of a release
// is a function over it.
import pMap from 'p-map'
import { readManifest, readReleaseFile } from '../../pipeline/release/read.ts'
import { manifestPath } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { ManifestFile, ReleaseManifest } from '../../schemas/manifests.ts'
import { ShardCache, type Sized } from './shard-cache.ts'
import type { WorkBeside } from './work-beside.ts'
import { READS_AT_ONCE } from '../../pipeline/store/store.ts'

/** The store that files are read from, and the clock by which long work makes pauses. */
export interface Reading {
  store: Store
  /** Milliseconds of a clock that only goes forward. */
  monotonicMs: () => number
}

/** A form in which files are held, under a name of its own. */
export interface Form<T extends object> {
  name: string
  /** Whether a file is opened in the next release too, before anyone asks for it there. */
  isWarmed: boolean
  open: (reading: Reading, manifest: ReleaseManifest, file: ManifestFile) => Promise<Sized<T>>
}

/** A parsed page takes about three times as much memory as its bytes. */
const PARSED_FACTOR = 3

/** A file of JSON, parsed. */
const PARSED: Form<object> = {
  name: 'parsed',
  isWarmed: true,
  open: async ({ store }, { release }, file) => ({
    value: await readReleaseFile<object>(store, release, file),
    sizeBytes: file.size_bytes * PARSED_FACTOR,
  }),
}

/** The estimated memory of a manifest for each of its files. */
const LISTED_FILE_BYTES = 500

type Make = (manifest: ReleaseManifest) => Promise<Sized<object> | undefined>

/** The content of a file, or what is made of some. */
interface Held {
  release: number
  name: string
  content: object
  /** Makes the same of the next release; undefined if that waits until somebody asks. */
  again: Make | undefined
}

export class ReleaseFiles {
  readonly #reading: Reading
  readonly #held: ShardCache<Held>

  /** @param budgetBytes the memory of all that it holds. */
  constructor(reading: Reading, budgetBytes: number) {
    this.#reading = reading
    this.#held = new ShardCache(budgetBytes)
  }

  /** Returns the manifest of a release that there must be. @throws ServiceError `corrupt` if it is gone. */
  async at(release: number): Promise<ReleaseManifest> {
    const manifest = await this.atIfThere(release)
    if (manifest) return manifest
    throw new ServiceError('corrupt', `${manifestPath(release)} is gone`)
  }

  async atIfThere(release: number): Promise<ReleaseManifest | undefined> {
    const read = async () => {
      const manifest = await readManifest(this.#reading.store, release)
      return manifest && { value: manifest, sizeBytes: manifest.files.length * LISTED_FILE_BYTES }
    }
    return (await this.#get({ release }, 'manifest', read, false)) as ReleaseManifest | undefined
  }

  /**
   * Returns the content of a file of JSON; undefined if the release does not have it.
   *
   * @throws ServiceError as `readReleaseFile` does.
   */
  async parsed<Content extends object>(
    manifest: ReleaseManifest,
    path: string,
  ): Promise<Content | undefined> {
    return (await this.opened(manifest, path, PARSED)) as Content | undefined
  }

  /** Returns a file in a form; undefined if the release does not have it. */
  async opened<T extends object>(
    manifest: ReleaseManifest,
    path: string,
    form: Form<T>,
  ): Promise<T | undefined> {
    const open = (its: ReleaseManifest) => {
      const file = its.files.find((one) => one.path === path)
      return file ? form.open(this.#reading, its, file) : Promise.resolve(undefined)
    }
    return (await this.#get(manifest, nameIn(form, path), open, form.isWarmed)) as T | undefined
  }

  /** Returns a file in a form if it is in memory. Never waits. */
  openedAtHand<T extends object>({ release }: ReleaseManifest, path: string, form: Form<T>): T | undefined {
    return this.#held.atHand(`${release} ${nameIn(form, path)}`)?.content as T | undefined
  }

  /** Yields the files of JSON in a folder, and keeps none of them: they would put all else out of memory. */
  async *eachParsed<Content extends object>(
    manifest: ReleaseManifest,
    folder: string,
  ): AsyncGenerator<Content> {
    for (const file of filesIn(manifest, folder)) {
      yield await readReleaseFile<Content>(this.#reading.store, manifest.release, file)
    }
  }

  /** Returns what `rowsOf` takes from each file of JSON in a folder, in order, and keeps no file. */
  async fromEach<Content extends object, Row>(
    manifest: ReleaseManifest,
    folder: string,
    rowsOf: (content: Content) => readonly Row[],
  ): Promise<Row[]> {
    const read = async (file: ManifestFile) =>
      rowsOf(await readReleaseFile<Content>(this.#reading.store, manifest.release, file))
    return (await pMap(filesIn(manifest, folder), read, { concurrency: READS_AT_ONCE })).flat()
  }

  /** Returns what is made of files of a release, under a name of its own. */
  async made<T extends object>(
    manifest: ReleaseManifest,
    name: string,
    make: (manifest: ReleaseManifest) => Promise<Sized<T>>,
  ): Promise<T> {
    return (await this.#get(manifest, name, make, true)) as T
  }

  /**
   * Reads from the next release whatever this holds of the one before, the latest first. Stops as soon as
   * `beside` has no time left. Ignores a read that fails: it fails again for the callers that ask for it, and
   * tells them why.
   */
  async warm(before: ReleaseManifest, next: ReleaseManifest, beside: WorkBeside): Promise<void> {
    for (const { release, name, again } of Array.from(this.#held.values())) {
      if (release !== before.release || !again) continue
      if (!(await beside.goesOn())) return
      await this.#get(next, name, again, true).catch(() => undefined)
    }
  }

  /** Calls that ask for the same during a read share that read. */
  async #get<M extends Pick<ReleaseManifest, 'release'>>(
    manifest: M,
    name: string,
    make: (manifest: M) => Promise<Sized<object> | undefined>,
    isWarmed: boolean,
  ): Promise<object | undefined> {
    const { release } = manifest
    const again = isWarmed ? (make as unknown as Make) : undefined
    const held = await this.#held.find(`${release} ${name}`, async () => {
      const made = await make(manifest)
      return made && { value: { release, name, content: made.value, again }, sizeBytes: made.sizeBytes }
    })
    return held?.content
  }
}

/** Returns the number of rows that the files in a folder have. */
export function rowsIn(manifest: ReleaseManifest, folder: string): number {
  return filesIn(manifest, folder).reduce((sum, { rows }) => sum + rows, 0)
}

function filesIn({ files }: ReleaseManifest, folder: string): ManifestFile[] {
  return files.filter(({ path }) => path.startsWith(folder))
}

const nameIn = (form: Form<object>, path: string) => `${path} ${form.name}`
