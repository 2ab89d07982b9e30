// Every path of the store has a place in a copy, or is left out on purpose.
import { expect, test } from 'vitest'
import {
  type Horizon,
  type Place,
  ORDER,
  STATE_PREFIXES,
  isWithin,
  placeOf,
} from '../../pipeline/backup/place.ts'
import * as paths from '../../pipeline/store/paths.ts'
import { tilesOf, bundlePath, tilePath } from '../../pipeline/proof/tiles.ts'
import { quarantineRecordPath } from '../../pipeline/store/paths.ts'

const ID = '0198c0de-1b1c-7c3e-a1b2-3c4d5e6f7a8b'
const HASH = 'ab'.repeat(32)
const BYTES = new Uint8Array()
const UNDER_RELEASE = paths.releasePrefix(7)

/** The place of what each function and constant of `paths.ts` names. */
const PLACES: Record<string, readonly [path: string, place: Place | undefined]> = {
  inboxPath: [paths.inboxPath('forecasts', ID, BYTES), 'inbox'],
  offerPath: [paths.offerPath('forecasts', 3, ID, BYTES), undefined],
  intakePath: [paths.intakePath('forecasts', 3), 'intake'],
  deltaLogPath: [paths.deltaLogPath('forecasts', 3), 'commit'],
  checkpointPath: [paths.checkpointPath('forecasts', 3), 'commit'],
  lastCheckpointPath: [paths.lastCheckpointPath('forecasts'), 'state'],
  dataPath: [paths.tablePath('forecasts', paths.dataPath('forecasts', 3, '2026-03-01', HASH, 0)), 'file'],
  tablePath: [paths.tablePath('forecasts', 'recorded_date=2026-03-01/x.parquet'), 'file'],
  retiredPath: [paths.retiredPath(ID), 'state'],
  retiringPath: [paths.retiringPath(ID), 'state'],
  renamingPath: [paths.renamingPath(ID, 5), 'state'],
  ownerClaimPath: [paths.ownerClaimPath(ID), 'state'],
  moderationPath: [paths.moderationPath(ID, 5), 'fact'],
  FORECAST_IDS_PATH: [paths.FORECAST_IDS_PATH, 'fact'],
  operatorCallPath: [paths.operatorCallPath(ID), 'fact'],
  webhookPath: [paths.webhookPath(ID), 'fact'],
  webhookStatePath: [paths.webhookStatePath(ID), 'state'],
  keyPath: [paths.keyPath('k'), 'fact'],
  invitationPath: [paths.invitationPath(HASH), 'fact'],
  usedInvitationPath: [paths.usedInvitationPath(HASH), 'fact'],
  keyDecisionPath: [paths.keyDecisionPath('k', 'revoked'), 'fact'],
  claimPath: [paths.claimPath('a', 'b'), undefined],
  planPath: [paths.planPath(7), 'plan'],
  manifestPath: [paths.manifestPath(7), 'release'],
  tallyPath: [paths.tallyPath(7, HASH), undefined],
  thinnedPath: [paths.thinnedPath(7), 'release'],
  snapshotManifestPath: [paths.snapshotManifestPath('2026-03-01'), 'snapshot'],
  shardPath: [UNDER_RELEASE + paths.shardPath('agent', ID), 'file'],
  publicTablePath: [UNDER_RELEASE + paths.publicTablePath('questions', '2026-03'), 'file'],
  SIMULATION_PATH: [paths.SIMULATION_PATH, 'fact'],
  SIMULATED_ROUND_PATH: [paths.SIMULATED_ROUND_PATH, 'state'],
  importPath: [paths.importPath({ table: 'questions', version: 3 }), 'import'],
  peoplePath: [paths.peoplePath('ff', 3), 'state'],
  NAMESPACES_PATH: [paths.NAMESPACES_PATH, 'fact'],
  undonePath: [paths.undonePath({ table: 'questions', version: 3 }), 'import'],
  erasedPath: [paths.erasedPath(ID), 'erasure'],
  quarantinePath: [paths.quarantinePath('intake/questions/x.json'), 'fact'],
  quarantineRecordPath: [quarantineRecordPath('intake/questions/x.json'), 'fact'],
  rationalesPath: [paths.rationalesPath(ID), 'fact'],
  RATIONALES_STATE_PATH: [paths.RATIONALES_STATE_PATH, 'state'],
  feedPath: [paths.feedPath(3), 'feed'],
  logTilePath: [paths.logTilePath('tile/0/000'), 'file'],
  logCheckpointPath: [paths.logCheckpointPath(7), 'log'],
  logCosignaturePath: [paths.logCosignaturePath(7, 'abcdef01'), 'log'],
  probePath: [paths.probePath(ID), undefined],
  COPY_PATH: [paths.COPY_PATH, undefined],
  credentialIssuePath: [paths.credentialIssuePath(3), 'credentials'],
  statusListPath: [paths.credentialsPrefix(3, 'make') + paths.statusListPath(1), 'file'],
}

/** What makes no path of an object, or tells what a path is of. */
const NO_PATHS = /^(?:is|assert|inboxPathAt$|quarantinedPathOf$)|Prefix$|_PREFIX$/

test('every path that the service makes has its place', () => {
  const made = Object.keys(paths).filter((name) => /path/i.test(name) && !NO_PATHS.test(name))
  expect(Object.keys(PLACES).toSorted()).toEqual(made.toSorted())
  for (const [name, [path, place]] of Object.entries(PLACES)) {
    expect(placeOf(path), name).toBe(place)
    expect(place === 'state', name).toBe(
      place === 'state' && STATE_PREFIXES.some((at) => path.startsWith(at)),
    )
  }
  expect(new Set(Object.values(PLACES).map(([, place]) => place))).toEqual(new Set([...ORDER, undefined]))
})

test('an unknown path is copied, and one of the sandbox goes with the sandbox', () => {
  expect(placeOf('unheard-of/x.json')).toBe('fact')
  expect(placeOf('sandbox/releases/00000001/manifest.json')).toBeUndefined()
})

test('a copy ends with what was finished when it began', () => {
  const horizon: Horizon = {
    tables: { forecasts: 3 },
    release: 7,
    snapshots: new Set(['2026-03-01']),
    logged: 7,
    issue: 3,
    segment: 3,
  }
  for (const [name, [path, place]] of Object.entries(PLACES)) {
    if (place === 'import') continue
    expect(isWithin(path, horizon), name).toBe(name !== 'logTilePath')
  }
  const before: Horizon = { tables: {}, release: 6, snapshots: new Set(), logged: 6, issue: 2, segment: 2 }
  for (const [name, [path, place]] of Object.entries(PLACES)) {
    const isFree = [undefined, 'inbox', 'fact', 'erasure', 'state'].includes(place)
    const isDataFile = path.includes('recorded_date=')
    expect(isWithin(path, before), name).toBe((isFree && name !== 'tallyPath') || isDataFile)
  }
})

test('a log has the tiles of its entries, and none of later ones', () => {
  for (const size of [1, 255, 256, 257, 65_536, 65_537]) {
    const horizon = { tables: {}, release: 0, snapshots: new Set<string>(), issue: 0, segment: 0 }
    for (const tile of tilesOf(size)) {
      for (const path of [tilePath(tile), ...(tile.level === 0 ? [bundlePath(tile)] : [])]) {
        expect(isWithin(`log/${path}`, { ...horizon, logged: size }), path).toBe(true)
      }
    }
    const last = [...tilesOf(size)].filter(({ level }) => level === 0).at(-1)!
    expect(isWithin(`log/${tilePath(last)}`, { ...horizon, logged: size - 1 }), `${size}`).toBe(false)
  }
})
