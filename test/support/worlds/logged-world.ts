// A store with three logged releases of two days, with forecasts that came by the API, a snapshot for each
// day and cosignatures; and what an agent has kept of it.
import { auditLog } from '../../../pipeline/audit/log.ts'
import type { LogAuditReport } from '../../../pipeline/audit/findings.ts'
import { withDatabase } from '../../../pipeline/duckdb.ts'
import type { ImportKind } from '../../../pipeline/import/columns.ts'
import { hashOfBase64 } from '../../../pipeline/proof/base64.ts'
import { canonical, decoded, encoded } from '../../../pipeline/proof/canonical.ts'
import { type SigningKey, type VerifierKey, signingKeyOf } from '../../../pipeline/proof/note-keys.ts'
import { signatureLine } from '../../../pipeline/proof/note.ts'
import { cosignText } from '../../../pipeline/proof/note-signatures.ts'
import { receiptsOf } from '../../../pipeline/proof/receipts.ts'
import { inclusionFromTiles } from '../../../pipeline/proof/tiles.ts'
import { type Path, innerProofBytes, tlogProofText } from '../../../pipeline/proof/tlog-proof.ts'
import { forecastPath } from '../../../pipeline/release/forecast-path.ts'
import { payloadPath, shardTree } from '../../../pipeline/release/payload-tree.ts'
import { readManifest, readReleaseShard, shardFile } from '../../../pipeline/release/read.ts'
import { LocalFiles } from '../../../pipeline/store/local-files.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { logCheckpointPath } from '../../../pipeline/store/paths.ts'
import { readCheckpoint, tileReader } from '../../../pipeline/transparency/log-files.ts'
import { readStatement } from '../../../pipeline/transparency/statement.ts'
import { type ApiForecast, apiForecast } from '../http/api-forecasts.ts'
import { Clock, importRows, release, testComponents } from '../http/service.ts'
import { send } from '../tables.ts'
import { QUESTION, copyReleasedWorld, forecasterId, uuidOf } from './world.ts'
import { LOG_KEY, LOG_ORIGIN, writeLog } from './written-log.ts'

export const WITNESS = signingKeyOf('witness.example', 'witness', new Uint8Array(32).fill(9))
const BATCH = '0198c0de-1b1c-7c3e-a1b2-3c4d5e6f7a8b'
/** When the second and the third release were made. */
const SECOND = '2026-03-02T12:00:00.000Z'
export const THIRD = '2026-03-02T13:00:00.000Z'

/** Two questions become the options of one event, and one has a market. */
const EVENT = {
  questions: `question_id,title,event_id,opened_at,closes_at
${QUESTION.resolved},Zero?,event-0,2026-01-01T00:00:00Z,2026-01-31T00:00:00Z
${uuidOf(1, 1)},One?,event-0,2026-01-01T00:00:00Z,2026-01-31T00:00:00Z
`,
  events: 'event_id,title,kind\nevent-0,Which?,at_most_one\n',
  prices: `question_id,priced_at,probability,source
${QUESTION.resolved},2026-01-02T00:00:00Z,0.5,a market
${QUESTION.resolved},2026-01-02T12:00:00Z,0.75,a market
${QUESTION.open},2026-01-02T00:00:00Z,0.25,a market
`,
}

export interface LoggedWorld {
  store: MemoryStore
  folder: string
  agentId: string
  /** Those that the second release is the first to have, and the one of the third. */
  forecasts: ApiForecast[]
  /**
   * The agent's verification in the second release with its proof, and of its first forecast the proof and
   * the receipt.
   */
  kept: { body: Uint8Array; proof: string; forecastProof: string; receipt: string }
}

/** @param logs Whether the releases are logged: otherwise a test may change them first. */
export async function loggedWorld(folder: string, logs = true): Promise<LoggedWorld> {
  const store = new MemoryStore()
  const { agentId } = await copyReleasedWorld(store)
  const clock = new Clock(SECOND)
  const components = await testComponents({ store, folder, clock })
  const forecasts = [0.25, 0.5, 0.75].map((probability, number) =>
    apiForecast(agentId, number, `2026-03-02T11:0${number}:00.000Z`, probability),
  )
  const rows = forecasts.map(({ row }) => row)
  await send(store, 'forecasts', 'a', rows)
  // A retry writes the same again.
  await send(store, 'forecasts', 'b', rows.slice(0, 1))
  const line = `forecaster,${forecasterId(0)},${QUESTION.open},0.5,2026-02-01T00:00:00Z`
  await importRows(
    components,
    'forecasts',
    `entity_type,entity_id,question_id,probability,forecast_at\n${line}\n`,
  )
  for (const [kind, csv] of Object.entries(EVENT)) {
    await importRows(components, kind as ImportKind, csv, kind === 'prices' ? {} : { correct: 'one event' })
  }
  await release(components)
  const late = apiForecast(agentId, 10, '2026-03-02T11:55:00.000Z', 0.125)
  await send(store, 'forecasts', 'c', [late.row])
  clock.set(THIRD)
  await release(components)
  const world = { store, folder, agentId, forecasts: [...forecasts, late] }
  if (!logs) return { ...world, kept: { body: new Uint8Array(), proof: '', forecastProof: '', receipt: '' } }
  await writeLog(store, 3)
  await cosign(store, 2, WITNESS)
  await cosign(store, 3, WITNESS)
  const [receipt] = receiptsOf(
    world.forecasts.map(({ body }) => body),
    { origin: LOG_ORIGIN, uuid: BATCH },
    [LOG_KEY],
  )
  const forecastProof = await provenForecast(store, 2, forecasts[0]!.id)
  return { ...world, kept: { ...(await provenPayload(store, 2, agentId)), forecastProof, receipt: receipt! } }
}

async function cosign(store: MemoryStore, size: number, witness: SigningKey): Promise<void> {
  const { note } = await readCheckpoint(store, size)
  const line = signatureLine(cosignText(note.text, witness, new Date(THIRD)))
  const path = `log/cosignatures/${String(size).padStart(8, '0')}/${witness.verifier.keyId}`
  await store.put(path, encoded(line))
}

/** An agent's verification with its proof to the last of three checkpoints. */
async function provenPayload(store: MemoryStore, number: number, agentId: string) {
  const manifest = (await readManifest(store, number))!
  const shard = await readReleaseShard(store, number, shardFile(manifest.files, 'agent', agentId)!)
  const path = payloadPath(manifest.trees.agent!, 0, shardTree(shard), agentId, 'verification')!
  return {
    body: canonical(shard.entities[agentId]!.verification.payload),
    proof: await proofOf(store, number, path),
  }
}

async function provenForecast(store: MemoryStore, number: number, forecastId: string): Promise<string> {
  const { root, size } = (await readManifest(store, number))!.trees.forecasts!
  const path = await forecastPath(store, number, { root: hashOfBase64(root), size }, forecastId)
  return proofOf(store, number, path!)
}

async function proofOf(store: MemoryStore, number: number, path: Path): Promise<string> {
  return tlogProofText({
    extra: innerProofBytes({ ...path, statement: await readStatement(store, number) }),
    index: number - 1,
    hashes: await inclusionFromTiles(number - 1, 3, tileReader(store)),
    checkpoint: decoded(store.objects.get(logCheckpointPath(3))!),
  })
}

/** Audits the log of a store as a machine does that has not read it before. */
export async function auditedLog(
  { store, folder }: Pick<LoggedWorld, 'store' | 'folder'>,
  keys: readonly VerifierKey[] = [LOG_KEY.verifier],
  witnesses: readonly VerifierKey[] = [WITNESS.verifier],
): Promise<LogAuditReport> {
  const { directory, openDatabase } = await testComponents({ store, folder })
  const local = new LocalFiles(store, `${directory}/audited`)
  return withDatabase(openDatabase, (database) =>
    auditLog({ store, local, database, directory, keys, witnesses, progress: () => undefined }),
  )
}
