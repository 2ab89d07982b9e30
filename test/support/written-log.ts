// Writes the public log of a store from its manifests, without a check: what tests of the calls read.
import { bundleOf } from '../../pipeline/proof/entry-bundle.ts'
import { canonical, encoded, sha256Hex } from '../../pipeline/proof/canonical.ts'
import { signedCheckpoint } from '../../pipeline/proof/checkpoint.ts'
import { leafHash } from '../../pipeline/proof/merkle.ts'
import { signingKeyOf, signingKeyText, verifierKeyText } from '../../pipeline/proof/note-keys.ts'
import { bundlePath, rootFromTiles, tilePath, tilesOfAppend } from '../../pipeline/proof/tiles.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { logCheckpointPath, logTilePath, manifestPath } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { tileReader } from '../../pipeline/transparency/log-files.ts'
import type { Statement } from '../../schemas/statement.ts'

export const LOG_ORIGIN = 'fvs.example/forecasts'
const SEED = new Uint8Array(32).fill(7)
export const LOG_KEY = signingKeyOf(LOG_ORIGIN, 'log', SEED)
/** The same as a setting. */
export const LOG_SECRET = signingKeyText(LOG_ORIGIN, 'log', SEED)
export const LOG_VKEY = verifierKeyText(LOG_KEY.verifier)

const WIDTH = 256

/** Writes the log of the releases from 1 up to this one, as it was after each. */
export async function writeLog(store: Store, releases: number): Promise<void> {
  const entries: Uint8Array[] = []
  for (let release = 1; release <= releases; release++) entries.push(await statementOf(store, release))
  await writeEntries(store, entries)
}

/** Writes a log of any entries. */
export async function writeEntries(store: Store, entries: readonly Uint8Array[]): Promise<void> {
  const read = tileReader(store)
  for (const [index, entry] of entries.entries()) {
    const added = await tilesOfAppend(leafHash(entry), index, read)
    for (const { tile, bytes } of added) await store.put(logTilePath(tilePath(tile)), bytes)
    const bundle = { index: Math.floor(index / WIDTH), width: (index % WIDTH) + 1 }
    const bundled = entries.slice(bundle.index * WIDTH, index + 1)
    await store.put(logTilePath(bundlePath(bundle)), bundleOf(bundled))
    const size = index + 1
    const checkpoint = { origin: LOG_ORIGIN, size, root: await rootFromTiles(size, read) }
    await store.put(logCheckpointPath(size), encoded(signedCheckpoint(checkpoint, [LOG_KEY])))
  }
}

async function statementOf(store: Store, number: number): Promise<Uint8Array> {
  const bytes = (await store.get(manifestPath(number)))!
  const manifest = (await readManifest(store, number))!
  const { as_of, environment, methodology_version, release, trees, snapshot_sha256 = null } = manifest
  const headOf = (tree: { root: string; size: number } | null | undefined) =>
    tree ? { root: tree.root, size: tree.size } : null
  const statement: Statement = {
    agent: headOf(trees?.agent),
    as_of,
    environment,
    forecaster: headOf(trees?.forecaster),
    forecasts: headOf(trees?.forecasts),
    manifest_sha256: sha256Hex(bytes),
    methodology_version,
    release,
    snapshot_sha256,
  }
  return canonical(statement)
}
