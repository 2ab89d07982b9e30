// Proves that forecasts were taken in. It finds the release by the time in the id of the forecast.
import { hashOfBase64 } from '../../pipeline/proof/base64.ts'
import { parseStatement } from '../../pipeline/proof/verify.ts'
import { assertTreeIsWhole, forecastPath } from '../../pipeline/release/forecast-path.ts'
import { manifestPath } from '../../pipeline/store/paths.ts'
import { FORECASTS_TREE_PATH } from '../../pipeline/release/files/forecasts-tree.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { loggedProof } from './logged-proof.ts'
import type { PublicLog } from './public-log.ts'
import type { ReleaseFiles } from './release-files.ts'
import { type Asker, SERVICE, SHORT, Turns } from '../turns.ts'

/**
 * The most that the nodes' clocks and the duration of a write may shift a forecast from the time in its id
 * (docs/verifying.md, Receipts).
 */
const WINDOW_MS = 10 * 60_000
/** A person's forecast may also come this long after it was made (METHODOLOGY, witnessed). */
const WITNESS_MS = 10 * 60_000
/** The note that a file was read completely and found correct. */
const NOTE_BYTES = 300
const WHOLE_AT_ONCE = 2

/** The facts about a release that a search needs. */
interface Searched {
  release: number
  asOfMs: number
  forecasts: { root: string; size: number } | null
}

export class ForecastProofs {
  readonly #store: Store
  readonly #log: Pick<PublicLog, 'entryOf' | 'statementOf'>
  readonly #files: ReleaseFiles
  readonly #turns = new Turns({ ...SHORT, atOnce: WHOLE_AT_ONCE })

  constructor(store: Store, files: ReleaseFiles, log: Pick<PublicLog, 'entryOf' | 'statementOf'>) {
    this.#store = store
    this.#files = files
    this.#log = log
  }

  /**
   * Returns the proof of a forecast; undefined if no release up to the current one has the forecast.
   *
   * @throws ServiceError `notFound` if retention has deleted the data that the proof needs, `unavailable` for
   *   a release that is not logged yet, `corrupt` for a damaged tree.
   */
  async proofOf(current: ReleaseManifest, forecastId: string, asker = SERVICE): Promise<string | undefined> {
    const made = timeOfId(forecastId)
    if (made === undefined) return undefined
    const missed: number[] = []
    for await (const { release, forecasts } of this.#candidates(current, made)) {
      if (forecasts === null) continue
      const tree = { root: hashOfBase64(forecasts.root), size: forecasts.size }
      const path = await forecastPath(this.#store, release, tree, forecastId)
      if (path) return loggedProof(this.#log, release, path)
      missed.push(release)
    }
    for (const release of missed) await this.#assertWhole(current, release, asker)
    return undefined
  }

  /**
   * Yields the releases that may have a forecast of this time, the likeliest first. It begins with the first
   * release as of this time or later, and goes on to the first that is later by the window. The releases
   * before follow, back to the first that is earlier by the window, because a release also takes in forecasts
   * that arrive after its `as_of` while it begins.
   */
  async *#candidates(current: ReleaseManifest, { madeAtMs, latestMs }: TimeOfId): AsyncIterable<Searched> {
    const first = await this.#firstAsOf(current, madeAtMs)
    for (let release = first; release <= current.release; release++) {
      const found = await this.#searched(current, release)
      yield found
      if (found.asOfMs >= latestMs) break
    }
    for (let release = first - 1; release >= 1; release--) {
      const found = await this.#searched(current, release)
      yield found
      if (found.asOfMs < madeAtMs - WINDOW_MS) break
    }
  }

  /**
   * Returns the first release as of this time or later, or the number after the current one if there is none.
   * `as_of` never goes back.
   */
  async #firstAsOf(current: ReleaseManifest, atMs: number): Promise<number> {
    let low = 1
    let high = current.release + 1
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if ((await this.#searched(current, middle)).asOfMs >= atMs) high = middle
      else low = middle + 1
    }
    return low
  }

  /**
   * Reads the log, whose bundles hold 256 releases each. Reads the manifest of the current release, and of a
   * release that is not logged yet.
   */
  async #searched(current: ReleaseManifest, release: number): Promise<Searched> {
    const entry = release === current.release ? undefined : await this.#log.entryOf(release)
    const { as_of, forecasts } = entry ? statementIn(entry) : await this.#fromManifest(current, release)
    return { release, asOfMs: Date.parse(as_of), forecasts }
  }

  async #fromManifest(current: ReleaseManifest, release: number) {
    const { as_of, trees } = await this.#manifestOf(current, release)
    return { as_of, forecasts: trees.forecasts }
  }

  #manifestOf(current: ReleaseManifest, release: number): Promise<ReleaseManifest> {
    return release === current.release ? Promise.resolve(current) : this.#files.at(release)
  }

  /** Checks the whole tree of a release, once, before the service says that the release lacks a forecast. */
  async #assertWhole(current: ReleaseManifest, release: number, asker: Asker): Promise<void> {
    const manifest = await this.#manifestOf(current, release)
    const file = manifest.files.find(({ path }) => path === FORECASTS_TREE_PATH)
    if (!file) throw new ServiceError('corrupt', `${manifestPath(release)} lacks ${FORECASTS_TREE_PATH}`)
    await this.#files.opened(manifest, file.path, {
      name: 'found whole',
      isWarmed: false,
      open: () =>
        this.#turns.run(asker, async () => {
          await assertTreeIsWhole(this.#store, release, file)
          return { value: file, sizeBytes: NOTE_BYTES }
        }),
    })
  }
}

/** Whether a later release may have a forecast that no release up to the current one has. */
export function mayStillCome(asOf: string | undefined, forecastId: string, now: Date): boolean {
  const made = timeOfId(forecastId)
  if (made === undefined || made.madeAtMs > now.getTime() + WINDOW_MS) return false
  return asOf === undefined || Date.parse(asOf) < made.latestMs
}

interface TimeOfId {
  madeAtMs: number
  /** The `as_of` from which on a release has the forecast, or one before. */
  latestMs: number
}

/**
 * Returns the time with which an id begins: version 7 (RFC 9562 §5.7) of an agent's forecast, version 8 of a
 * person's. Returns undefined for any other id: no tree has those.
 */
function timeOfId(id: string): TimeOfId | undefined {
  if (id[14] !== '7' && id[14] !== '8') return undefined
  const madeAtMs = parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  return { madeAtMs, latestMs: madeAtMs + WINDOW_MS + (id[14] === '8' ? WITNESS_MS : 0) }
}

function statementIn(entry: Uint8Array) {
  try {
    return parseStatement(entry)
  } catch (cause) {
    throw new ServiceError('corrupt', `an entry of the log is no statement: ${(cause as Error).message}`, {
      cause,
    })
  }
}
