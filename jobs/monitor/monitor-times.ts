// Holds the forecasts that were settled since the last look of `fvs monitor` to the log, as far as the
// service shows them.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Database, withDatabase } from '../../pipeline/duckdb.ts'
import type { SignedCheckpoint } from '../../pipeline/proof/checkpoint.ts'
import { leafHash } from '../../pipeline/proof/merkle.ts'
import { verifyInclusion } from '../../pipeline/proof/merkle-proof.ts'
import { noteText } from '../../pipeline/proof/note.ts'
import { TILE_WIDTH, inclusionFromTiles } from '../../pipeline/proof/tiles.ts'
import { parseStatement } from '../../pipeline/proof/verify.ts'
import { copyToFile } from '../../pipeline/store/object-content.ts'
import { releasePrefix } from '../../pipeline/store/paths.ts'
import { readBundle } from '../../pipeline/transparency/log-files.ts'
import { provenManifest } from '../../pipeline/transparency/proven.ts'
import type { RemoteLog } from '../../pipeline/transparency/remote-log.ts'
import { checkSettledTimes, isSettledFile, timesText } from '../../pipeline/transparency/settled-times.ts'
import type { Statement } from '../../schemas/statement.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { makeTemporaryFolder } from '../components/temporary-folder.ts'
import { type Inconsistency, checked } from './monitor-news.ts'

/** A monitor is called often, so that it copies no table. `fvs audit --from` has no such limit. */
const MOST_FILES_BYTES = 64 * 1024 * 1024

export interface Times {
  /** How many were checked and how many not, a line for each. */
  said: string[]
  news: Inconsistency[]
}

/**
 * Checks the files of forecasts that the releases after `from` have written, up to `to`.
 *
 * @throws ServiceError `unavailable` if the service does not answer.
 */
export function timesSince(
  log: RemoteLog,
  head: SignedCheckpoint,
  from: number,
  to: number,
): Promise<Times | Inconsistency> {
  const kept = { checkpoint: noteText(head.note) }
  return checked({ entity: null, kept, found: {} }, async () => {
    if (to <= from) return { said: [], news: [] }
    const { manifest, statement } = await provenManifest(log, head, to)
    const files = manifest.public.filter(({ path, release }) => release > from && isSettledFile(path))
    const bytes = files.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
    if (bytes > MOST_FILES_BYTES)
      return unchecked(`their files have ${bytes} bytes; fvs audit --from reads them`)
    const folder = await makeTemporaryFolder('work')
    try {
      const data = log.store.at(`${log.url}/data`)
      const places: string[] = []
      for (const [number, { path, release, size_bytes, sha256 }] of files.entries()) {
        const object = releasePrefix(release) + path
        const found = await copyToFile(data, object, join(folder, `${number}.parquet`), size_bytes)
        if (!found) return unchecked(`${data.url}/${object} is not public`)
        if (found.sha256 !== sha256)
          throw new ServiceError('corrupt', `${data.url}/${object} is not the file that was logged`)
        places.push(found.location)
      }
      const open = () => Database.open({ threads: 1, memoryLimit: '512MB', directory: folder })
      const times = await withDatabase(open, (database) =>
        checkSettledTimes(
          {
            database,
            keys: log.keys,
            get: log.get,
            statementOf: statementReader(log, head),
            quarantinedIn: async (of) => (await provenManifest(log, head, of)).manifest.quarantined ?? [],
          },
          places,
          statement,
        ),
      )
      if (times.unreached !== null && times.bad.length === 0)
        throw new ServiceError('unavailable', times.unreached)
      const news = times.bad.map(({ detail, body, proof }): Inconsistency => {
        const found = { record: body, ...(proof !== undefined && { proof }) }
        return { type: 'inconsistent', entity: null, detail, kept, found }
      })
      return { said: timesText(times), news }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
}

function unchecked(why: string): Times {
  return { said: [`whether newly settled forecasts are backdated was not checked, since ${why}`], news: [] }
}

/** Reads statements that the log of `head` has, of which a bundle has many. */
function statementReader(
  { store, readTile }: RemoteLog,
  { checkpoint }: SignedCheckpoint,
): (release: number) => Promise<Statement> {
  const bundles = new Map<number, Promise<Uint8Array[]>>()
  return async (release) => {
    if (release > checkpoint.size)
      throw new ServiceError(
        'invalid',
        `the log has ${checkpoint.size} entries, and none of release ${release}`,
      )
    const index = Math.floor((release - 1) / TILE_WIDTH)
    const width = Math.min(TILE_WIDTH, checkpoint.size - index * TILE_WIDTH)
    const read = bundles.get(index) ?? readBundle(store, { index, width })
    bundles.set(index, read)
    const entry = (await read)[(release - 1) % TILE_WIDTH]!
    const hashes = await inclusionFromTiles(release - 1, checkpoint.size, readTile)
    verifyInclusion(leafHash(entry), release - 1, hashes, checkpoint)
    return parseStatement(entry)
  }
}
