// Issues credentials for all certified entities of a published release: files, status lists, and last the
// record that publishes them. Everything follows from the release, the issue before it and the key.
import pMap from 'p-map'
import {
  type CredentialFile,
  type CredentialIssue,
  type HeldCredential,
  credentialIssue,
} from '../../schemas/credentials.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { LeaderboardFile } from '../../schemas/payloads.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import { canonical, sha256Hex } from '../proof/canonical.ts'
import { readManifest, readReleaseFile } from '../release/read.ts'
import {
  credentialIssuePath,
  credentialsPrefix,
  manifestPath,
  shardPath,
  statusListPath,
} from '../store/paths.ts'
import { leaderboardFolder } from '../release/files/leaderboards.ts'
import { recordAt } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { Signer } from './data-integrity.ts'
import { CERTIFIED, FORM, type Issued, credentialOf, issuerOf, statusListOf } from './documents.ts'
import type { CredentialKey } from './keys.ts'
import { lastIssue, makeOf, readCredentialFile, readIssue } from './read.ts'
import { ENTRIES_PER_LIST } from './status-list.ts'
import { READS_AT_ONCE } from '../store/store.ts'

export interface CredentialIssuer {
  /** The address of the service, without a slash at its end. */
  url: string
  /** The key that signs, and the previous one until its credentials have run out. */
  keys: readonly CredentialKey[]
}

export interface IssueContext {
  store: Store
  /** Undefined if no credentials are made. */
  credentialIssuer: CredentialIssuer | undefined
  log: (event: string, fields: object) => void
}

const ENTITIES_PER_FILE = 256
/** Nodes may still serve the issue before the last one. */
const ISSUES_KEPT = 3

/** The facts of a certified entity in a release. */
type Facts = Omit<HeldCredential, 'index' | 'proof'>
/** By kind and id. */
type ByKind<T> = Record<EntityType, Map<string, T>>

/**
 * Issues the credentials of the current release, unless the last issue is of this release, key and address.
 * Any number of runs under one key write the same bytes, at once or after one was cut off.
 *
 * @throws ServiceError `corrupt` if a file of the release or of the last issue is gone or damaged.
 */
export async function issueCredentials(context: IssueContext, release: number): Promise<void> {
  const { store, credentialIssuer: issuer, log } = context
  if (!issuer || release === 0) return
  const last = await lastIssue(store)
  const before = last === 0 ? undefined : await readIssue(store, last)
  const keys = issuer.keys.map(({ multikey }) => multikey)
  // Another run may have issued those of a later release by now.
  if (before && before.release > release) return
  if (before && makeOf(before) === makeOf({ form: FORM, release, url: issuer.url, keys })) return
  const manifest = await readManifest(store, release)
  if (!manifest) throw new ServiceError('corrupt', `${manifestPath(release)} is gone`)
  const { as_of, methodology_version, environment } = manifest
  const issued: Issued = { release, as_of, methodology_version, environment, url: issuer.url }
  const holders = await holdersOf(store, release, manifest.files)
  // If another run has published this issue first, its credentials are of this release or a later one.
  if (!(await publishIssue(store, last, before, issuer, issued, holders))) return
  log('issued credentials', { release, issue: last + 1 })
  await deleteFiles(store, last + 1 - ISSUES_KEPT)
}

/**
 * Writes the files of the issue after `last`, whose record is `before`, and publishes them by a record of
 * their own. Returns false if another record is there.
 */
export async function publishIssue(
  store: Store,
  last: number,
  before: CredentialIssue | undefined,
  { keys }: CredentialIssuer,
  issued: Issued,
  holders: ByKind<Facts>,
): Promise<boolean> {
  const { indices, next_index } = await indicesFor(store, last, before, issued, holders)
  const made = { form: FORM, ...issued, keys: keys.map(({ multikey }) => multikey) }
  const prefix = credentialsPrefix(last + 1, makeOf(made))
  const signer = new Signer(keys[0]!, issuerOf(issued.url), issued.as_of)
  const files: CredentialIssue['files'] = []
  const put = async (path: string, content: object) => {
    const bytes = canonical(content)
    await store.put(prefix + path, bytes)
    return { path, size_bytes: bytes.byteLength, sha256: sha256Hex(bytes) }
  }
  for (const entity_type of ENTITY_TYPES) {
    const ids = [...indices[entity_type].keys()]
    for (let from = 0; from < ids.length; from += ENTITIES_PER_FILE) {
      const content: CredentialFile = {}
      for (const id of ids.slice(from, from + ENTITIES_PER_FILE)) {
        const held = { index: indices[entity_type].get(id)!, ...holders[entity_type].get(id)! }
        content[id] = { ...held, proof: signer.valueFor(credentialOf(issued, entity_type, id, held)) }
      }
      const first_entity_id = ids[from]!
      const file = await put(shardPath(entity_type, first_entity_id), content)
      files.push({ ...file, entity_type, first_entity_id })
    }
  }
  const standing = new Set(ENTITY_TYPES.flatMap((entityType) => [...indices[entityType].values()]))
  const status_lists: CredentialIssue['status_lists'] = []
  for (let list = 0; list * ENTRIES_PER_LIST < Math.max(1, next_index); list++) {
    const revoked = revokedIn(list, next_index, standing)
    status_lists.push(await put(statusListPath(list), signer.secured(statusListOf(issued, list, revoked))))
  }
  const record: CredentialIssue = { ...made, next_index, files, status_lists }
  return recordAt(store, credentialIssuePath(last + 1), credentialIssue).create(record)
}

function byKind<T>(): ByKind<T> {
  return { agent: new Map(), forecaster: new Map() }
}

/**
 * Gives every holder an index, in order of kind and id, after the issue `last` whose record is `before`. A
 * holder keeps its index as long as the credential says the same. Another name, another method, or a title
 * lost and won again gets a new index: the old one stays revoked.
 */
export async function indicesFor(
  store: Store,
  last: number,
  before: CredentialIssue | undefined,
  { url, methodology_version }: Issued,
  holders: ByKind<Facts>,
): Promise<{ indices: ByKind<number>; next_index: number }> {
  const isSameAchievement = before?.url === url && before.methodology_version === methodology_version
  const held = before && isSameAchievement ? await heldIn(store, last, before) : byKind<HeldCredential>()
  const indices = byKind<number>()
  let next_index = before?.next_index ?? 0
  for (const entityType of ENTITY_TYPES) {
    for (const [id, { name }] of [...holders[entityType]].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const earlier = held[entityType].get(id)
      indices[entityType].set(id, earlier?.name === name ? earlier.index : next_index++)
    }
  }
  return { indices, next_index }
}

/** Returns the used indices of a list whose credentials are no longer valid. */
export function revokedIn(list: number, next_index: number, standing: ReadonlySet<number>): number[] {
  const first = list * ENTRIES_PER_LIST
  const given = Math.min(ENTRIES_PER_LIST, Math.max(0, next_index - first))
  return Array.from({ length: given }, (_, at) => first + at).filter((index) => !standing.has(index))
}

/** Reads the valid credentials of an issue. */
async function heldIn(store: Store, issue: number, record: CredentialIssue): Promise<ByKind<HeldCredential>> {
  const held = byKind<HeldCredential>()
  const read = async (file: CredentialIssue['files'][number]) => {
    const entities = await readCredentialFile(store, issue, record, file)
    for (const [id, credential] of Object.entries(entities)) held[file.entity_type].set(id, credential)
  }
  await pMap(record.files, read, { concurrency: READS_AT_ONCE })
  return held
}

/** Reads the certified entities from the leaderboards of a release. Retired entities get no credential. */
export async function holdersOf(
  store: Store,
  release: number,
  files: ReleaseManifest['files'],
): Promise<ByKind<Facts>> {
  const holders = byKind<Facts>()
  for (const entityType of ENTITY_TYPES) {
    const pages = files.filter(({ path }) => path.startsWith(leaderboardFolder(entityType)))
    const read = async (file: (typeof files)[number]) => {
      for (const entry of (await readReleaseFile<LeaderboardFile>(store, release, file)).entries) {
        const facts = factsOf(entry)
        if (facts) holders[entityType].set('agent_id' in entry ? entry.agent_id : entry.user_id, facts)
      }
    }
    await pMap(pages, read, { concurrency: READS_AT_ONCE })
  }
  return holders
}

function factsOf(entry: LeaderboardFile['entries'][number]): Facts | undefined {
  const isAgent = 'agent_id' in entry
  const title = isAgent ? entry.certification : entry.badge
  const { skill, skill_interval, contested_questions } = entry
  if (title !== CERTIFIED || (isAgent && entry.retired_at)) return undefined
  if (skill === null || skill_interval === null) return undefined
  return { name: isAgent ? entry.name : null, skill, skill_interval, contested_questions }
}

async function deleteFiles(store: Store, issue: number): Promise<void> {
  if (issue < 1) return
  const paths: string[] = []
  for await (const { path } of store.list(credentialsPrefix(issue))) paths.push(path)
  await pMap(paths, (path) => store.delete(path), { concurrency: READS_AT_ONCE })
}
