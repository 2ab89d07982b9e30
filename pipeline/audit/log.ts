// Checks the whole public log of a store: every object below `log/` against the entries, and every entry
// against the release, the files and the data that it commits to. It scores nothing again; the audit of a
// release does.
import { ServiceError } from '../../schemas/errors.ts'
import { GrowingTree, type Hash } from '../proof/merkle.ts'
import { TILE_WIDTH } from '../proof/tiles.ts'
import { currentRelease } from '../release/read.ts'
import { LOG_PREFIX, logCheckpointSize } from '../store/paths.ts'
import { CheckpointChecks, type KnownKeys } from './checkpoints.ts'
import { type StoredEntries, entryOfRelease, storedEntries } from './entries.ts'
import { Findings, type LogAuditReport } from './findings.ts'
import { ReleaseChecks } from './releases.ts'
import type { TablesContext } from './tables.ts'
import { type LogObjects, checkBundles, checkTiles } from './tiles.ts'
import { readLoggedManifest, statementOf } from '../transparency/statement.ts'

export interface LogAuditContext extends Omit<TablesContext, 'findings'>, KnownKeys {
  /** Receives the name of each step that begins. */
  progress: (step: string) => void
}

/** @throws ServiceError `notFound` for a store without a log. */
export async function auditLog(context: LogAuditContext): Promise<LogAuditReport> {
  const { store, keys } = context
  const findings = new Findings()
  const listed = new Set<string>()
  let last = 0
  for await (const { path } of store.list(LOG_PREFIX)) {
    listed.add(path)
    last = Math.max(last, logCheckpointSize(path) ?? 0)
  }
  if (last === 0) throw new ServiceError('notFound', `${store.url} has no public log`)
  const releases = await currentRelease(store, last)
  await checkAll(context, { store, findings, listed }, last, releases)
  const { faults, notes, counts, cosignatures } = findings
  return {
    ok: faults.length === 0,
    origin: keys[0]!.name,
    keys: keys.map(({ name, keyId }) => `${name}+${keyId}`),
    entries: last,
    releases,
    ...counts,
    cosignatures,
    faults,
    notes,
  }
}

async function checkAll(
  context: LogAuditContext,
  objects: LogObjects,
  last: number,
  releases: number,
): Promise<void> {
  const { findings, listed, store } = objects
  const checkpoints = new CheckpointChecks(objects, context)
  const releaseChecks = await ReleaseChecks.begin({ ...context, findings })
  const tree = new GrowingTree()
  let stored: StoredEntries | undefined
  let entries: (Uint8Array | undefined)[] = []
  let leaves: Hash[] = []
  for (let release = 1; release <= releases; release++) {
    context.progress(`checking release ${release} of ${releases}`)
    const index = Math.floor((release - 1) / TILE_WIDTH)
    stored ??= await storedEntries(objects, index)
    const manifest = await findings.read(readLoggedManifest(store, release))
    const entry = entryOfRelease(objects, stored, release, manifest && statementOf(manifest))
    tree.add(entry.leaf)
    entries.push(entry.bytes)
    leaves.push(entry.leaf)
    if (release <= last) {
      const checkpoint = { origin: context.keys[0]!.name, size: release, root: tree.root }
      await checkpoints.check(checkpoint, release === last)
      await releaseChecks.check(release, manifest, release === releases)
    }
    if (entries.length < TILE_WIDTH && release < releases) continue
    const logged = Math.max(0, Math.min(TILE_WIDTH, last - index * TILE_WIDTH))
    await checkBundles(objects, index, entries, logged)
    await checkTiles(objects, { level: 0, index }, leaves, logged)
    ;[stored, entries, leaves] = [undefined, [], []]
  }
  await checkUpperTiles(objects, tree, last)
  await releaseChecks.finish()
  checkpoints.finish()
  for (const path of listed) nameUnexpected(findings, path)
  if (releases > last) {
    const which = releases === last + 1 ? `release ${releases} is` : `releases ${last + 1} to ${releases} are`
    findings.notes.push(`${which} published and not logged yet, and not checked: the next run logs them`)
  }
}

async function checkUpperTiles(objects: LogObjects, tree: GrowingTree, last: number): Promise<void> {
  let logged = last
  for (const [below, hashes] of tree.tileLevels.entries()) {
    logged = Math.floor(logged / TILE_WIDTH)
    for (let first = 0; first < hashes.length; first += TILE_WIDTH) {
      const place = { level: below + 1, index: first / TILE_WIDTH }
      const isLogged = Math.max(0, Math.min(TILE_WIDTH, logged - first))
      await checkTiles(objects, place, hashes.slice(first, first + TILE_WIDTH), isLogged)
    }
  }
}

/**
 * Reports an object that no entry explains. At a path that a run has to write it is a fault, because the run
 * could not go on; elsewhere it is a note.
 */
function nameUnexpected(findings: Findings, path: string): void {
  const what = 'is not of this log: nothing that was published makes it'
  if (/^log\/(tile|checkpoints|cosignatures)\//.test(path)) findings.fault(path, what)
  else findings.notes.push(`${path} ${what}`)
}
