// Every path of an object in the bucket is built and parsed here.
import { ServiceError } from '../../schemas/errors.ts'
import type { EntityType, TableName } from '../../schemas/tables.ts'
import { sha256Hex } from '../proof/canonical.ts'

const padded = (number: number, digits: number): string => String(number).padStart(digits, '0')

export function inboxPrefix(table: TableName): string {
  return `inbox/${table}/`
}

export function inboxPath(table: TableName, id: string): string {
  return `inbox/${table}/${id}.parquet`
}

/** False for what others put beside the inbox's objects, such as the empty objects that stand for folders. */
export function isInboxPath(table: TableName, path: string): boolean {
  const prefix = inboxPrefix(table)
  return path.startsWith(prefix) && /^[^/]+\.parquet$/.test(path.slice(prefix.length))
}

/** What a version of a table takes from the inbox, written down before it is taken. */
export function intakePath(table: TableName, version: number): string {
  return `intake/${table}/${padded(version, 20)}.json`
}

export function deltaLogPath(table: TableName, version: number): string {
  return `tables/${table}/_delta_log/${padded(version, 20)}.json`
}

/** A data file's path as the commit log writes it: relative to its table. */
export function dataPath(table: TableName, date: string, part: string): string {
  return `recorded_date=${date}/${table}-${part}.parquet`
}

export function tablePath(table: TableName, path: string): string {
  return `tables/${table}/${path}`
}

export function agentPath(agentId: string): string {
  return `registry/agents/${agentId}.json`
}

export const API_KEYS_PREFIX = 'registry/keys/'

export function apiKeyPath(keyHash: string): string {
  return `${API_KEYS_PREFIX}${keyHash}.json`
}

/** Where a key is found by its public id. */
export function keyIdPath(keyId: string): string {
  return `registry/key-ids/${keyId}.json`
}

export const CLAIMS_PREFIX = 'idempotency/'

/** Where the claim of an Idempotency-Key is. Only a hash, because anyone who has the key is given the answer again. */
export function claimPath(scope: string, key: string): string {
  return `${CLAIMS_PREFIX}${sha256Hex(`${scope}\0${key}`)}.json`
}

export function releasePrefix(release: number): string {
  return `releases/${padded(release, 8)}/`
}

/** What a release is to be made of, written down before its first file. */
export function planPath(release: number): string {
  return `${releasePrefix(release)}plan.json`
}

export function manifestPath(release: number): string {
  return `${releasePrefix(release)}manifest.json`
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

/** A shard's path inside its release or snapshot: named by the first entity it holds. */
export function shardPath(entityType: EntityType, firstEntityId: string): string {
  return `${entityType}/${firstEntityId}.json`
}

/** The first entity of a shard; undefined for a path that is not a shard of that kind of entity. */
export function shardStart(path: string, entityType: EntityType): string | undefined {
  return path.startsWith(`${entityType}/`) && path.endsWith('.json')
    ? path.slice(entityType.length + 1, -'.json'.length)
    : undefined
}

/** What the sandbox simulates. */
export const SIMULATION_PATH = 'simulation.json'

/** How far its simulation has come. */
export const SIMULATED_ROUND_PATH = 'simulation-round.json'

export function probePath(id: string): string {
  return `probe/${id}`
}

/** Keys are ours to make: anything that could leave the store's prefix is a bug in the caller. */
export function assertPath(path: string): void {
  if (!isPath(path)) throw new ServiceError('invalid', `not a path of the store: ${JSON.stringify(path)}`)
}

/** What a listing may ask for: the beginning of a path, or nothing. */
export function assertPrefix(prefix: string): void {
  if (prefix !== '' && !isPath(prefix.replace(/\/$/, ''))) {
    throw new ServiceError('invalid', `not the beginning of a path of the store: ${JSON.stringify(prefix)}`)
  }
}

/** No part begins with a dot: not `..`, nor the names that file systems and their users hide. */
export function isPath(path: string): boolean {
  return /^[A-Za-z0-9_=-][A-Za-z0-9_=.-]*(\/[A-Za-z0-9_=-][A-Za-z0-9_=.-]*)*$/.test(path)
}
