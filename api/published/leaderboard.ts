// Pages of the leaderboard of one release, put together from its published pages.
import pMap from 'p-map'
import { ENTRIES_PER_PAGE } from '../../pipeline/release/board-order.ts'
import { readReleaseFile } from '../../pipeline/release/read.ts'
import { leaderboardPath, leaderboardPrefix } from '../../pipeline/release/files/leaderboards.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { WorkBeside } from './work-beside.ts'
import type { ManifestFile, ReleaseManifest } from '../../schemas/manifests.ts'
import type { LeaderboardFile } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { BoardNames, isSearch } from './board-names.ts'
import { type BoardRequest, boardPage } from './board-page.ts'
import type { CursorReleases } from './cursor-releases.ts'
import { type AnswerSource, Memo } from './memo.ts'
import { type NamedEntry, type NamedPage, type People, namedEntry } from './people.ts'
import type { References } from './references.ts'
import { ShardCache } from './shard-cache.ts'
import type { NextRelease, Warm } from './warm.ts'

/** Some hundred pages. */
const CACHE_BYTES = 16 * 1024 * 1024
/** A parsed page takes about three times as much memory as its bytes. */
const PARSED_FACTOR = 3
/** The names of some hundred thousand entities. */
const NAMES_BYTES = 32 * 1024 * 1024
const READS_AT_ONCE = 16

type Entry = LeaderboardFile['entries'][number]
type PoolOf = Pick<Entry, 'pool' | 'pool_size'>

/** A page as it is sent. */
export interface SentPage extends AnswerSource {
  bytes: Uint8Array
}

/** Entries that a search of names has found. */
export interface FoundEntries {
  /** Of all entries that it has found. */
  total: number
  /** Those whose whole names are the text come first, then those that begin with it. */
  entries: NamedEntry[]
  /** How many of `entries` have the text as their whole names. */
  whole: number
}

export class Leaderboard implements Warm {
  readonly #store: Store
  readonly #pages: ShardCache<LeaderboardFile>
  /** First pages, as they are sent. */
  readonly #first = new ShardCache<SentPage>(CACHE_BYTES)
  readonly #names = new ShardCache<BoardNames>(NAMES_BYTES)
  /** First pages that callers asked for since the last switch. */
  #asked = new Map<string, BoardRequest>()
  /** Kinds whose names callers searched since the last switch. */
  #searched = new Set<EntityType>()
  readonly #releases: CursorReleases
  readonly #people: People
  readonly #references: References

  constructor(store: Store, releases: CursorReleases, people: People, references: References) {
    this.#store = store
    this.#pages = new ShardCache(CACHE_BYTES)
    this.#releases = releases
    this.#people = people
    this.#references = references
  }

  /** Returns the first page, as `page` returns it, if it is in memory. */
  firstAtHand({ release }: ReleaseManifest, entityType: EntityType, limit: number): SentPage | undefined {
    this.#noteAsked({ entityType, limit })
    return this.#first.atHand(`${release} ${entityType} ${limit}`)
  }

  /**
   * Returns the entries from the cursor on in the cursor's release; without a cursor, the first ones in this
   * release. A search leaves out all whose names it does not find. First pages are kept, but not those of a
   * release that the caller names.
   *
   * @throws ServiceError `notFound` if the cursor's release does not exist, or if retention has deleted its
   *   pages.
   */
  async page(manifest: ReleaseManifest, request: BoardRequest): Promise<Uint8Array> {
    const isUsual = request.cursor === undefined && request.release === undefined
    if (isSearch(request) || !isUsual) return this.#page(manifest, request)
    this.#noteAsked(request)
    return this.#firstPage(manifest, request)
  }

  /** Puts together the first pages that callers asked for since the last switch. */
  async warm({ manifest }: NextRelease, beside: WorkBeside): Promise<void> {
    const asked = this.#asked
    this.#asked = new Map()
    for (const request of asked.values()) {
      if (!(await beside.goesOn())) return
      await this.#firstPage(manifest, request).catch(() => undefined)
    }
    const searched = this.#searched
    this.#searched = new Set()
    for (const entityType of searched) {
      if (!(await beside.goesOn())) return
      await this.#namesOf(manifest, entityType).catch(() => undefined)
    }
  }

  /** Returns the entries from `from` on, at most `most`, with a text anywhere in their names. */
  async found(
    manifest: ReleaseManifest,
    entityType: EntityType,
    text: string,
    { from = 0, most }: { from?: number; most: number },
  ): Promise<FoundEntries> {
    this.#searched.add(entityType)
    const names = await this.#namesOf(manifest, entityType)
    const places = names.found(text)
    const shown = places.slice(from, from + most)
    const entries = await pMap(shown, (place) => this.#namedEntry(manifest, entityType, place), {
      concurrency: READS_AT_ONCE,
    })
    const whole = shown.filter((place) => names.isWhole(place, text)).length
    return { total: places.length, entries, whole }
  }

  #noteAsked({ entityType, limit }: BoardRequest): void {
    this.#asked.set(`${entityType} ${limit}`, { entityType, limit })
  }

  async #firstPage(current: ReleaseManifest, request: BoardRequest): Promise<Uint8Array> {
    const { entityType, limit } = request
    const sent = await this.#first.get(`${current.release} ${entityType} ${limit}`, async () => {
      const bytes = await this.#page(current, request)
      return { value: { bytes, memo: new Memo() }, sizeBytes: bytes.byteLength }
    })
    return sent.bytes
  }

  async #page(current: ReleaseManifest, request: BoardRequest): Promise<Uint8Array> {
    const { manifest, from = 0 } = await this.#releases.placeOf(current, request.cursor)
    const { entityType } = request
    return boardPage(
      {
        manifest,
        category: null,
        size: countOf(manifest, entityType),
        entryAt: (place) => this.#entry(manifest, entityType, place),
        namesOn: () => this.#namesOf(manifest, entityType),
      },
      from,
      request,
      this.#references,
    )
  }

  /** Returns a page, counted from 0, with names; undefined if the release does not have it. */
  async file(
    manifest: ReleaseManifest,
    entityType: EntityType,
    page: number,
  ): Promise<NamedPage | undefined> {
    const file = await this.#read(manifest, leaderboardPath(entityType, page))
    return file && { ...file, entries: file.entries.map((entry) => namedEntry(this.#people, entry)) }
  }

  /** Yields the entries page by page, and keeps none of them: they would put all others out of the cache. */
  async *entries({ release, files }: ReleaseManifest, entityType: EntityType): AsyncGenerator<Entry[]> {
    for (const file of files.filter(isPageOf(entityType))) yield (await this.#fetch(release, file)).entries
  }

  /** Returns how many are ranked in the pool of an entity, and the first two of them. */
  async board(
    manifest: ReleaseManifest,
    entityType: EntityType,
    of: PoolOf,
  ): Promise<{ size: number; first: NamedEntry[] }> {
    const { begin, size } = await this.#span(manifest, entityType, of)
    const first = Array.from({ length: Math.min(2, size) }, (_, index) =>
      this.#namedEntry(manifest, entityType, begin + index),
    )
    return { size, first: await Promise.all(first) }
  }

  /** Returns how many are ranked in the pool of an entity. */
  async boardSize(manifest: ReleaseManifest, entityType: EntityType, of: PoolOf): Promise<number> {
    return (await this.#span(manifest, entityType, of)).size
  }

  /**
   * Finds where the ranked of a pool begin, and how many they are. The pages are in order of
   * pools, so that a search reads few of them, however many there are.
   */
  async #span(
    manifest: ReleaseManifest,
    entityType: EntityType,
    { pool, pool_size: size }: PoolOf,
  ): Promise<{ begin: number; size: number }> {
    const comesBefore = (entry: Entry) =>
      entry.rank !== null &&
      (entry.pool_size! > size! || (entry.pool_size === size && entry.pool !== pool && entry.pool! < pool!))
    const isIn = (entry: Entry) => entry.rank !== null && entry.pool === pool
    const begin = await this.#countWhile(manifest, entityType, comesBefore)
    const end = await this.#countWhile(manifest, entityType, (entry) => comesBefore(entry) || isIn(entry))
    return { begin, size: end - begin }
  }

  /** Counts the first entries for which `holds` is true, which it must be of no later one. */
  async #countWhile(
    manifest: ReleaseManifest,
    entityType: EntityType,
    holds: (entry: Entry) => boolean,
  ): Promise<number> {
    const entriesOf = async (page: number) =>
      (await this.#read(manifest, leaderboardPath(entityType, page)))?.entries ?? []
    let [low, high] = [0, Math.max(0, pagesOf(manifest, entityType) - 1)]
    while (low < high) {
      const middle = (low + high) >> 1
      const last = (await entriesOf(middle)).at(-1)
      if (last && holds(last)) low = middle + 1
      else high = middle
    }
    return low * ENTRIES_PER_PAGE + (await entriesOf(low)).filter(holds).length
  }

  #namesOf(manifest: ReleaseManifest, entityType: EntityType): Promise<BoardNames> {
    const of = entityType === 'agent' ? '' : ` ${this.#people.version}`
    return this.#names.get(`${manifest.release} ${entityType}${of}`, async () => {
      const value = await this.#readNames(manifest, entityType)
      return { value, sizeBytes: value.sizeBytes }
    })
  }

  /** Reads every page, and keeps none of them: they would put all others out. */
  async #readNames({ release, files }: ReleaseManifest, entityType: EntityType): Promise<BoardNames> {
    const pages = files.filter(isPageOf(entityType))
    const names = await pMap(
      pages,
      async (file) => {
        const { entries } = await this.#fetch(release, file)
        return entries.map((entry) => namedEntry(this.#people, entry).name)
      },
      { concurrency: READS_AT_ONCE },
    )
    return new BoardNames(names.flat())
  }

  async #entry(manifest: ReleaseManifest, entityType: EntityType, place: number): Promise<Entry> {
    const path = leaderboardPath(entityType, Math.floor(place / ENTRIES_PER_PAGE))
    const page = await this.#read(manifest, path)
    return page!.entries[place % ENTRIES_PER_PAGE]!
  }

  async #namedEntry(manifest: ReleaseManifest, entityType: EntityType, place: number): Promise<NamedEntry> {
    return namedEntry(this.#people, await this.#entry(manifest, entityType, place))
  }

  async #read(manifest: ReleaseManifest, path: string): Promise<LeaderboardFile | undefined> {
    const { release, files } = manifest
    const file = files.find((one) => one.path === path)
    if (!file) return undefined
    return this.#pages.get(`${release} ${path}`, async () => ({
      value: await this.#fetch(release, file),
      sizeBytes: file.size_bytes * PARSED_FACTOR,
    }))
  }

  #fetch(release: number, file: ManifestFile): Promise<LeaderboardFile> {
    return readReleaseFile(this.#store, release, file)
  }
}

/** Returns the number of pages that a release has for an entity type. */
export function pagesOf(manifest: ReleaseManifest, entityType: EntityType): number {
  return Math.ceil(countOf(manifest, entityType) / ENTRIES_PER_PAGE)
}

/** Returns the number of entries that a release has for an entity type. */
export function countOf({ files }: ReleaseManifest, entityType: EntityType): number {
  return files.filter(isPageOf(entityType)).reduce((sum, { rows }) => sum + rows, 0)
}

function isPageOf(entityType: EntityType): (file: ManifestFile) => boolean {
  return ({ path }) => path.startsWith(leaderboardPrefix(entityType))
}
