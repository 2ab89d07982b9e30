// Builds and parses the path of every object in the store.
import { ServiceError } from '../../schemas/errors.ts'
import type { PublicTable } from '../../schemas/public-tables.ts'
import { ENTITY_TYPES, type EntityType, TABLE_NAMES, type TableName } from '../../schemas/tables.ts'
import { sha256Hex } from '../proof/canonical.ts'

/** Numbers with zeros in front, so that their paths sort as they do. */
export const padded = (number: number, digits: number): string => String(number).padStart(digits, '0')

const INBOX_DIGITS = 16

/** The name of an object of rows, which ends in the first digits of the hash of its bytes. */
const rowsName = (id: string, bytes: Uint8Array): string =>
  `${id}-${sha256Hex(bytes).slice(0, INBOX_DIGITS)}.parquet`

export function inboxPrefix(table: TableName): string {
  return `inbox/${table}/`
}

export function inboxPath(table: TableName, id: string, bytes: Uint8Array): string {
  return inboxPrefix(table) + rowsName(id, bytes)
}

/** The first digits of the hash of an inbox object, from its path; undefined if the path has none. */
export function inboxHash(path: string): string | undefined {
  return new RegExp(`-([0-9a-f]{${INBOX_DIGITS}})\\.parquet$`).exec(path)?.[1]
}

/**
 * Returns a text that sorts before every inbox object whose id, a version 7 UUID, was drawn at this instant
 * or later.
 */
export function inboxPathAt(table: TableName, atMs: number): string {
  const hex = Math.max(0, Math.trunc(atMs)).toString(16).padStart(12, '0')
  return `${inboxPrefix(table)}${hex.slice(0, 8)}-${hex.slice(8)}`
}

/** The time at which the id of an inbox object was drawn; NaN for a path whose id is no version 7 UUID. */
export function inboxTimeMs(path: string): number {
  const [, high, low] = /\/([0-9a-f]{8})-([0-9a-f]{4})-7[^/]*$/.exec(path) ?? []
  return parseInt(`${high}${low}`, 16)
}

/**
 * Returns false for anything that is not an inbox object, such as the empty objects that some tools use to
 * mark folders.
 */
export function isInboxPath(table: TableName, path: string): boolean {
  const prefix = inboxPrefix(table)
  return path.startsWith(prefix) && isPath(path) && /^[^/]+\.parquet$/.test(path.slice(prefix.length))
}

export function offersPrefix(table: TableName): string {
  return `offers/${table}/`
}

/**
 * The path of rows that only one version of a table may take in. It ends like the path of an inbox object,
 * but lies outside the inbox, whose rows any version takes in.
 */
export function offerPath(table: TableName, version: number, id: string, bytes: Uint8Array): string {
  return `${offersPrefix(table)}${padded(version, 20)}-${rowsName(id, bytes)}`
}

/** The version that may take in an offer; undefined for the path of anything else. */
export function offeredVersion(table: TableName, path: string): number | undefined {
  const prefix = offersPrefix(table)
  if (!path.startsWith(prefix) || !isPath(path)) return undefined
  const version = /^(\d{20})-[^/]+\.parquet$/.exec(path.slice(prefix.length))?.[1]
  return version === undefined ? undefined : Number(version)
}

/** The list of inbox objects that a version of a table takes in, written before they are taken. */
export function intakePath(table: TableName, version: number): string {
  return `intake/${table}/${padded(version, 20)}.json`
}

export function deltaLogPath(table: TableName, version: number): string {
  return `tables/${table}/_delta_log/${padded(version, 20)}.json`
}

/** The state of a table at a version in one file, for readers that come late. */
export function checkpointPath(table: TableName, version: number): string {
  return `tables/${table}/_delta_log/${padded(version, 20)}.checkpoint.parquet`
}

/** The file that names the last checkpoint of a table. */
export function lastCheckpointPath(table: TableName): string {
  return `tables/${table}/_delta_log/_last_checkpoint`
}

/**
 * The path of a data file relative to its table, as in the commit log. It names the version for which the
 * file is made, so that the files of a given-up version can be found.
 */
export function dataPath(
  table: TableName,
  version: number,
  date: string,
  digest: string,
  part: number,
): string {
  return `recorded_date=${date}/${table}-${version}-${digest}-${part}.parquet`
}

/** The prefix of the data files of a table. */
export function dataPrefix(table: TableName): string {
  return tablePath(table, 'recorded_date=')
}

/** Whether a path is that of a data file that was made for this version of a table. */
export function isDataPathOf(table: TableName, version: number, path: string): boolean {
  return path.startsWith(dataPrefix(table)) && path.split('/').at(-1)!.startsWith(`${table}-${version}-`)
}

export function tablePath(table: TableName, path: string): string {
  return `tables/${table}/${path}`
}

/** The record that an agent takes no forecasts any more. */
export function retiredPath(agentId: string): string {
  return `registry/retired/${agentId}.json`
}

export const RETIRING_PREFIX = 'registry/retiring/'

/** The note that the table of agents does not show a retirement yet. */
export function retiringPath(agentId: string): string {
  return `${RETIRING_PREFIX}${agentId}.json`
}

/** The agent of such a path; undefined for every other path. */
export function retiringAgent(path: string): string | undefined {
  return new RegExp(`^${RETIRING_PREFIX}([0-9a-f-]{36})\\.json$`).exec(path)?.[1]
}

export const RENAMING_PREFIX = 'registry/renaming/'

/** The note of an agent's new name that the table of agents does not show yet, by its instant. */
export function renamingPath(agentId: string, atMs: number): string {
  return `${RENAMING_PREFIX}${agentId}-${String(atMs).padStart(15, '0')}.json`
}

/** The agent of such a path; undefined for every other path. */
export function renamingAgent(path: string): string | undefined {
  return new RegExp(`^${RENAMING_PREFIX}([0-9a-f-]{36})-[0-9]{15}\\.json$`).exec(path)?.[1]
}

/** The instant in such a path, in milliseconds. */
export function renamingInstant(path: string): number {
  return Number(/-([0-9]{15})\.json$/.exec(path)?.[1])
}

export const OWNER_CLAIMS_PREFIX = 'registry/owner-claims/'

/** The claim of an agent that the owner of a domain answers for it. */
export function ownerClaimPath(agentId: string): string {
  return `${OWNER_CLAIMS_PREFIX}${agentId}.json`
}

export function moderationPrefix(agentId: string): string {
  return `registry/moderation/${agentId}-`
}

/** The record of why the operator renamed or hid an agent, by the instant in milliseconds. */
export function moderationPath(agentId: string, atMs: number): string {
  return `${moderationPrefix(agentId)}${atMs}.json`
}

/** The secret that gives people's forecasts their ids when they come by the operator's calls. */
export const FORECAST_IDS_PATH = 'registry/forecast-ids.json'

export const OPERATOR_LOG_PREFIX = 'registry/operator-log/'

/** The record of a call of the operator, by its version 7 UUID. */
export function operatorCallPath(id: string): string {
  return `${OPERATOR_LOG_PREFIX}${id}.json`
}

export const WEBHOOKS_PREFIX = 'registry/webhooks/'

/** A webhook with its secret, by its id. */
export function webhookPath(id: string): string {
  return `${WEBHOOKS_PREFIX}${id}.json`
}

/** How far a webhook is in the feed of events. */
export function webhookStatePath(id: string): string {
  return `deliveries/${id}.json`
}

export const API_KEYS_PREFIX = 'registry/keys/'

/** The record of an API key, by its public id. */
export function keyPath(keyId: string): string {
  return `${API_KEYS_PREFIX}${keyId}.json`
}

/** An invitation to register an agent, by the hash of its code. */
export function invitationPath(codeHash: string): string {
  return `registry/invitations/${codeHash}.json`
}

/** The agent that has used an invitation up. */
export function usedInvitationPath(codeHash: string): string {
  return `registry/invitations-used/${codeHash}.json`
}

/** A decision about an API key, by the public id of the key. Its record shows all of them. */
export function keyDecisionPath(keyId: string, decision: 'quota' | 'replaced' | 'revoked'): string {
  return `registry/key-decisions/${keyId}/${decision}.json`
}

export const CLAIMS_PREFIX = 'idempotency/'

/**
 * The claim of an Idempotency-Key. The path holds only a hash, because anyone with the key can get the answer
 * again.
 */
export function claimPath(scope: string, key: string): string {
  return `${CLAIMS_PREFIX}${sha256Hex(`${scope}\0${key}`)}.json`
}

export function releasePrefix(release: number): string {
  return `releases/${padded(release, 8)}/`
}

/** The number of a release, from the folder of its files; undefined for every other name. */
export function releaseOfFolder(name: string): number | undefined {
  const release = Number(/^\d{8,}$/.exec(name)?.[0])
  return releasePrefix(release) === `releases/${name}/` ? release : undefined
}

/** The inputs of a release, written before its first file. */
export function planPath(release: number): string {
  return `${releasePrefix(release)}plan.json`
}

export function manifestPath(release: number): string {
  return `${releasePrefix(release)}manifest.json`
}

/** The counts by which the entities of a staged release are ranked, kept until it is published. */
export function tallyPath(release: number, sha256: string): string {
  return `${releasePrefix(release)}tally-${sha256}.json`
}

/** The note that retention has thinned the release, written before its first file is deleted. */
export function thinnedPath(release: number): string {
  return `${releasePrefix(release)}thinned.json`
}

/**
 * Whether a file of a release is published, given its path in the release. Anyone may read a published file
 * that a manifest names, and retention may delete it. These are the files in folders. A file beside the
 * manifest stays in the store: `forecasts.tree` has ids beside the hashes of leaves, so that anyone could
 * find a probability by trying. Public tables outlive their release, because later manifests name them too.
 */
export function isPublished(path: string): boolean {
  return path.includes('/') && !path.startsWith(PUBLIC_PREFIX)
}

export const SNAPSHOTS_PREFIX = 'snapshots/'

export function snapshotPrefix(date: string): string {
  return `${SNAPSHOTS_PREFIX}${date}/`
}

export function snapshotManifestPath(date: string): string {
  return `${snapshotPrefix(date)}manifest.json`
}

/** The day of a snapshot's manifest; undefined for every other path. */
export function snapshotDateOf(path: string): string | undefined {
  return /^snapshots\/(\d{4}-\d{2}-\d{2})\/manifest\.json$/.exec(path)?.[1]
}

/** The path of a shard inside its release or snapshot. Its name is the first entity in it. */
export function shardPath(entityType: EntityType, firstEntityId: string): string {
  return `${entityType}/${firstEntityId}.json`
}

const SHARD_FOLDERS = ENTITY_TYPES.map((entityType) => `${entityType}/`)

/** Whether a path inside a release or snapshot is that of a shard. */
export function isShardPath(path: string): boolean {
  return path.endsWith('.json') && SHARD_FOLDERS.some((folder) => path.startsWith(folder))
}

/** The first entity of a shard, from its path; undefined if it is not a shard of that kind of entity. */
export function shardStart(path: string, entityType: EntityType): string | undefined {
  return path.startsWith(`${entityType}/`) && path.endsWith('.json')
    ? path.slice(entityType.length + 1, -'.json'.length)
    : undefined
}

const PUBLIC_PREFIX = 'public/'

/** The path of a public table inside the release that wrote it, or of its part of a period. */
export function publicTablePath(table: PublicTable, period?: string): string {
  return `${PUBLIC_PREFIX}${table}${period === undefined ? '' : `/${period}`}.parquet`
}

/** The prefix of a release's files that later manifests may name too. */
export function publicPrefix(release: number): string {
  return releasePrefix(release) + PUBLIC_PREFIX
}

/** The world that the sandbox simulates. */
export const SIMULATION_PATH = 'simulation.json'

/** The last round that the sandbox has simulated. */
export const SIMULATED_ROUND_PATH = 'simulation-round.json'

/** The record of an import: its file, and how many of its rows were known. */
export function importPath({ table, version }: { table: TableName; version: number }): string {
  return `imports/${table}/${padded(version, 20)}.json`
}

/** The namespaces for textual ids, of all imports so far. */
export const NAMESPACES_PATH = 'imports/namespaces.json'

export const PEOPLE_PREFIX = 'people/'

/** The names of the people whose ids end in two hex digits, by the number of changes so far. */
export function peoplePath(shard: string, number: number): string {
  return `${PEOPLE_PREFIX}${shard}-${padded(number, 12)}.json`
}

/** The shard and the number of such a path; undefined for every other path. */
export function peopleShardOf(path: string): { shard: string; number: number } | undefined {
  const [, shard, number] = /^people\/([0-9a-f]{2})-(\d{12})\.json$/.exec(path) ?? []
  return shard === undefined ? undefined : { shard, number: Number(number) }
}

export const UNDONE_PREFIX = 'undone-imports/'

/** The record that an import is undone. */
export function undonePath({ table, version }: { table: TableName; version: number }): string {
  return `${UNDONE_PREFIX}${table}/${padded(version, 20)}.json`
}

export const ERASED_PREFIX = 'erased-people/'

/** The record that the forecasts of a person are erased. */
export function erasedPath(userId: string): string {
  return `${ERASED_PREFIX}${userId}.json`
}

export const QUARANTINE_PREFIX = 'quarantine/'

/** The new path of an object that was moved aside. */
export function quarantinePath(path: string): string {
  return `${QUARANTINE_PREFIX}${path}`
}

/** The record of an object that was moved aside. */
export function quarantineRecordPath(path: string): string {
  return `${QUARANTINE_PREFIX}${path}.json`
}

/**
 * The old path of an object that was moved aside, from the path of its record; undefined for every other
 * path.
 */
export function quarantinedPathOf(path: string): string | undefined {
  return /^quarantine\/(.+\.(?:parquet|json))\.json$/.exec(path)?.[1]
}

/** An object that an operator may move aside. */
export type Quarantinable =
  | { kind: 'inbox'; table: TableName }
  | { kind: 'intake'; table: TableName; version: number }
  | { kind: 'snapshot'; date: string }

/** Returns undefined for the path of anything else. */
export function quarantinableOf(path: string): Quarantinable | undefined {
  const date = snapshotDateOf(path)
  if (date !== undefined) return { kind: 'snapshot', date }
  const table = TABLE_NAMES.find((name) => path.split('/')[1] === name)
  if (!table) return undefined
  if (isInboxPath(table, path) || offeredVersion(table, path) !== undefined) return { kind: 'inbox', table }
  const version = Number(/(\d{20})\.json$/.exec(path)?.[1])
  return path === intakePath(table, version) ? { kind: 'intake', table, version } : undefined
}

/** The rationales on a question that has an outcome. */
export function rationalesPath(questionId: string): string {
  return `rationales/${questionId}.json`
}

/** The versions of the tables up to which rationales have been published. */
export const RATIONALES_STATE_PATH = 'rationales/published.json'

/** A segment of the feed, by its number; the first is 1. */
export function feedPath(segment: number): string {
  return `feed/${padded(segment, 20)}.json`
}

export const LOG_PREFIX = 'log/'

/** The path of a tile or a bundle of the public log, from its path in the log. */
export function logTilePath(path: string): string {
  return `log/${path}`
}

/** The checkpoint of the public log after this many entries. */
export function logCheckpointPath(size: number): string {
  return `log/checkpoints/${padded(size, 8)}`
}

/** The prefix of the cosignatures of a checkpoint. */
export function logCosignaturesPrefix(size: number): string {
  return `log/cosignatures/${padded(size, 8)}/`
}

/** A cosignature of a checkpoint, by the id of the witness's key. */
export function logCosignaturePath(size: number, keyId: string): string {
  return `${logCosignaturesPrefix(size)}${keyId}`
}

/** The size of a checkpoint of the public log, from its path; undefined for every other path. */
export function logCheckpointSize(path: string): number | undefined {
  const size = Number(/^log\/checkpoints\/(\d+)$/.exec(path)?.[1])
  return path === logCheckpointPath(size) ? size : undefined
}

/** The checkpoint and the witness's key, from the path of a cosignature; undefined for every other path. */
export function cosignatureOf(path: string): { size: number; keyId: string } | undefined {
  const [, size, keyId] = /^log\/cosignatures\/(\d{8,})\/([0-9a-f]{8})$/.exec(path) ?? []
  return size === undefined || keyId === undefined ? undefined : { size: Number(size), keyId }
}

export const PROBES_PREFIX = 'probe/'

/** An object that a process writes to try the store out. */
export function probePath(id: string): string {
  return `${PROBES_PREFIX}${id}`
}

/** The note that a store is a backup, or that its restore has not ended. */
export const COPY_PATH = 'copy.json'

/** Only this file makes paths, so a path that could lead out of the store's prefix is a bug in the caller. */
export function assertPath(path: string): void {
  if (!isPath(path)) throw new ServiceError('invalid', `not a path of the store: ${JSON.stringify(path)}`)
}

/** A listing takes the beginning of a path, or an empty prefix for everything. */
export function assertPrefix(prefix: string): void {
  if (prefix !== '' && !isPath(prefix.replace(/\/$/, ''))) {
    throw new ServiceError('invalid', `not the beginning of a path of the store: ${JSON.stringify(prefix)}`)
  }
}

/** No part may begin with a dot, which excludes `..` and hidden files. */
export function isPath(path: string): boolean {
  return /^[A-Za-z0-9_=-][A-Za-z0-9_=.-]*(\/[A-Za-z0-9_=-][A-Za-z0-9_=.-]*)*$/.test(path)
}

/** The record of an issue of credentials, by its number from 1. */
export function credentialIssuePath(issue: number): string {
  return `credentials/${padded(issue, 8)}.json`
}

/** The prefix of the files of an issue. Runs that make other files of one number have other prefixes. */
export function credentialsPrefix(issue: number, make = ''): string {
  return `credentials/${padded(issue, 8)}/${make === '' ? '' : `${make}/`}`
}

export function statusListPath(number: number): string {
  return `status/${padded(number, 6)}.json`
}
