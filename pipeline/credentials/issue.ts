// Issues credentials for everyone who holds a title in a release, after its manifest: files, status lists,
// and last the record that publishes them. Everything follows from the release, the issue before it and the
// key.
import pMap from 'p-map'
import type { CredentialFile, CredentialIssue, HeldCredential } from '../../schemas/credentials.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { LeaderboardFile } from '../../schemas/payloads.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import { canonical, sha256Hex } from '../proof/canonical.ts'
import { readManifest, readReleaseFile } from '../release/read.ts'
import {
  credentialIssuePath,
  credentialsPrefix,
  leaderboardPrefix,
  manifestPath,
  shardPath,
  statusListPath,
} from '../store/paths.ts'
import { recordBytes } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { Signer } from './data-integrity.ts'
import { FORM, type Issued, credentialOf, isCertifiedTitle, issuerOf, statusListOf } from './documents.ts'
import type { CredentialKey } from './keys.ts'
import { lastIssue, makeOf, readCredentialFile, readIssue } from './read.ts'
import { ENTRIES_PER_LIST } from './status-list.ts'

export interface CredentialIssuer {
  /** The address of the service, without a slash at its end. */
  url: string
  /** The key that signs, and before its credentials have run out the one that did. */
  keys: readonly CredentialKey[]
}

export interface IssueContext {
  store: Store
  /** Undefined: no credentials are made. */
  credentialIssuer: CredentialIssuer | undefined
  log: (event: string, fields: object) => void
}

const ENTITIES_PER_FILE = 256
const READS_AT_ONCE = 16
/** Nodes may still serve the issue before the last one. */
const ISSUES_KEPT = 3

/** The facts that a release states of somebody with a title. */
type Facts = Omit<HeldCredential, 'index' | 'proof'>
/** By kind and id. */
type ByKind<T> = Record<EntityType, Map<string, T>>

/**
 * Issues the credentials of the current release, unless the last issue is of this release, key and address. A
 * run that was cut off, or any number of runs at once under one key, write the same.
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
  // If another run has published this issue first, its credentials are as good, or those of a later release.
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
  const indices = before ? await indicesOf(store, last, before) : byKind<number>()
  const next_index = assignIndices(indices, holders, before?.next_index ?? 0)
  const made = { form: FORM, ...issued, keys: keys.map(({ multikey }) => multikey) }
  const prefix = credentialsPrefix(last + 1, makeOf(made))
  const signer = new Signer(keys[0]!, issuerOf(issued.url), issued.as_of)
  const revoked: number[] = []
  const files: CredentialIssue['files'] = []
  const put = async (path: string, content: object) => {
    const bytes = canonical(content)
    await store.put(prefix + path, bytes)
    return { path, size_bytes: bytes.byteLength, sha256: sha256Hex(bytes) }
  }
  for (const entity_type of ENTITY_TYPES) {
    const ids = [...indices[entity_type].keys()].toSorted()
    for (let from = 0; from < ids.length; from += ENTITIES_PER_FILE) {
      const content: CredentialFile = {}
      for (const id of ids.slice(from, from + ENTITIES_PER_FILE)) {
        const index = indices[entity_type].get(id)!
        const facts = holders[entity_type].get(id)
        if (!facts) revoked.push(index)
        const held = facts && { index, ...facts }
        content[id] = held
          ? { ...held, proof: signer.valueFor(credentialOf(issued, entity_type, id, held)) }
          : { index, revoked: true }
      }
      const first_entity_id = ids[from]!
      const file = await put(shardPath(entity_type, first_entity_id), content)
      files.push({ ...file, entity_type, first_entity_id })
    }
  }
  const status_lists: CredentialIssue['status_lists'] = []
  for (let list = 0; list * ENTRIES_PER_LIST < Math.max(1, next_index); list++) {
    const own = revoked.filter((index) => Math.floor(index / ENTRIES_PER_LIST) === list)
    status_lists.push(await put(statusListPath(list), signer.secured(statusListOf(issued, list, own))))
  }
  const record: CredentialIssue = { ...made, next_index, files, status_lists }
  const path = credentialIssuePath(last + 1)
  return store.putIfAbsent(path, recordBytes(path, record))
}

function byKind<T>(): ByKind<T> {
  return { agent: new Map(), forecaster: new Map() }
}

/** Reads the index of everyone who ever had a credential. */
async function indicesOf(store: Store, issue: number, record: CredentialIssue): Promise<ByKind<number>> {
  const indices = byKind<number>()
  const read = async (file: CredentialIssue['files'][number]) => {
    const entities = await readCredentialFile(store, issue, record, file)
    for (const [id, { index }] of Object.entries(entities)) indices[file.entity_type].set(id, index)
  }
  await pMap(record.files, read, { concurrency: READS_AT_ONCE })
  return indices
}

/**
 * Reads from the leaderboards of a release who holds a title. Who has retired holds none that a credential
 * says.
 */
export async function holdersOf(
  store: Store,
  release: number,
  files: ReleaseManifest['files'],
): Promise<ByKind<Facts>> {
  const holders = byKind<Facts>()
  for (const entityType of ENTITY_TYPES) {
    const pages = files.filter(({ path }) => path.startsWith(leaderboardPrefix(entityType)))
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
  if (!isCertifiedTitle(title) || (isAgent && entry.retired_at)) return undefined
  if (skill === null || skill_interval === null) return undefined
  return { title, name: isAgent ? entry.name : null, skill, skill_interval, contested_questions }
}

/**
 * Gives an index to everyone who holds a title for the first time, in order of kind and id. Returns the next
 * one.
 */
function assignIndices(indices: ByKind<number>, holders: ByKind<Facts>, first: number): number {
  let next = first
  for (const entityType of ENTITY_TYPES) {
    for (const id of [...holders[entityType].keys()].toSorted()) {
      if (!indices[entityType].has(id)) indices[entityType].set(id, next++)
    }
  }
  return next
}

async function deleteFiles(store: Store, issue: number): Promise<void> {
  if (issue < 1) return
  const paths: string[] = []
  for await (const { path } of store.list(credentialsPrefix(issue))) paths.push(path)
  await pMap(paths, (path) => store.delete(path), { concurrency: READS_AT_ONCE })
}
