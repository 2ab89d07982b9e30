// A store with manifests of releases alone, and keys of a log, for tests of the public log.
import { createHash } from 'node:crypto'
import { type SigningKey, signingKeyOf } from '../../../pipeline/proof/note-keys.ts'
import { manifestPath } from '../../../pipeline/store/paths.ts'
import { recordBytes } from '../../../pipeline/store/records.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import type { ReleaseManifest } from '../../../schemas/manifests.ts'

export const ORIGIN = 'log.example/forecasts'

/** A key of its own for each seed. */
export function signer(seed: string, name = ORIGIN): SigningKey {
  return signingKeyOf(name, 'log', createHash('sha256').update(seed).digest())
}

const rootOf = (text: string) => createHash('sha256').update(text).digest('base64')

export function manifestOf(release: number): ReleaseManifest {
  const root = rootOf(`agents of ${release}`)
  return {
    release,
    as_of: new Date(Date.UTC(2026, 0, 1) + release * 900_000).toISOString(),
    environment: 'production',
    methodology_version: '4.0.0',
    voice_rule: 'recorded',
    engines: { service: '4.0.0', duckdb: 'v1' },
    tables: {},
    counts: { agents: 1, forecasters: 0, scored_questions: 1, forecasts: 1 },
    questions: {
      open: 0,
      overdue: 0,
      annulled: 0,
      early: 0,
      own_events: 0,
      shared_events: 0,
      no_events: 1,
    },
    pools: 0,
    next_change_at: null,
    corrections: [],
    quarantined: [],
    files: [],
    trees: {
      agent: { root, size: 4, shards: [root] },
      forecaster: null,
      forecasts: release % 2 === 0 ? null : { root: rootOf(`forecasts of ${release}`), size: 3 },
    },
    inputs: [],
    public: [],
    snapshot_sha256: null,
  }
}

/** Of a release without a leaf. */
export const NO_TREES = { agent: null, forecaster: null, forecasts: null }

export async function putManifest(store: Store, manifest: ReleaseManifest): Promise<void> {
  const path = manifestPath(manifest.release)
  await store.put(path, recordBytes(path, manifest))
}

/** Puts the manifests of all releases up to one. */
export async function putReleases(store: Store, last: number, from = 1): Promise<void> {
  for (let release = from; release <= last; release++) await putManifest(store, manifestOf(release))
}
