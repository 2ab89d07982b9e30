// The credentials of the last issue, put together from its files, and its status lists.
import { type Secured, proofOptions } from '../../pipeline/credentials/data-integrity.ts'
import { FORM, credentialOf, didDocument, issuerOf } from '../../pipeline/credentials/documents.ts'
import { lastIssue, readCredentialFile, readIssue, readIssueBytes } from '../../pipeline/credentials/read.ts'
import { canonical } from '../../pipeline/proof/canonical.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { CredentialFile, CredentialIssue } from '../../schemas/credentials.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { ShardCache } from './shard-cache.ts'

const CACHE_BYTES = 16 * 1024 * 1024
/** A parsed file takes about three times as much memory as its bytes. */
const PARSED_FACTOR = 3

interface Current {
  issue: number
  record: CredentialIssue
}

export interface FoundCredential {
  /** The release that it is of. */
  release: number
  document: Secured
}

export class Credentials {
  readonly #store: Store
  readonly #files = new ShardCache<CredentialFile>(CACHE_BYTES)
  readonly #lists = new ShardCache<Uint8Array>(CACHE_BYTES)
  #current: Current | undefined
  #refreshing: Promise<void> | undefined

  constructor(store: Store) {
    this.#store = store
  }

  /** Looks for a newer issue. Calls made during a look share it. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#look().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #look(): Promise<void> {
    const known = this.#current?.issue ?? 0
    const issue = await lastIssue(this.#store, known)
    if (issue === known) return
    const record = await readIssue(this.#store, issue)
    if (record) this.#current = { issue, record }
  }

  /** The document that names the keys whose credentials are good; undefined before the first issue. */
  get issuer(): ReturnType<typeof didDocument> | undefined {
    const record = this.#current?.record
    return record && didDocument(issuerOf(record.url), record.keys)
  }

  /**
   * Returns the bytes of the credential that `find` finds.
   *
   * @throws ServiceError `unavailable` if another version of the service has issued them, and as `find`.
   */
  async issuedCredential(
    release: number,
    entityType: EntityType,
    entityId: string,
  ): Promise<Uint8Array | undefined> {
    const { record } = this.#current ?? {}
    if (record && record.form !== FORM) {
      const detail =
        'the credentials were issued by another version of the service: ask again after the next release'
      throw new ServiceError('unavailable', detail, { expose: true, retryAfterS: 60 })
    }
    const found = await this.find(release, entityType, entityId)
    return found && canonical(found.document)
  }

  /**
   * Returns the credential of an entity; undefined if it has none, or if this version has issued none for the
   * release or for the one before it, whose credentials stand until those of the release are issued, a moment
   * after it.
   *
   * @throws ServiceError `corrupt` if a file of the issue is gone or damaged.
   */
  async find(
    release: number,
    entityType: EntityType,
    entityId: string,
  ): Promise<FoundCredential | undefined> {
    const current = this.#current
    if (!current || current.record.release < release - 1 || current.record.form !== FORM) return undefined
    const { issue, record } = current
    const file = record.files.findLast(
      ({ entity_type, first_entity_id }) => entity_type === entityType && first_entity_id <= entityId,
    )
    if (!file) return undefined
    const entities = await this.#files.get(`${issue} ${file.path}`, async () => ({
      value: await readCredentialFile(this.#store, issue, record, file),
      sizeBytes: file.size_bytes * PARSED_FACTOR,
    }))
    const held = Object.hasOwn(entities, entityId) ? entities[entityId]! : undefined
    if (!held) return undefined
    const { proof: proofValue, ...facts } = held
    const options = proofOptions(`${issuerOf(record.url)}#${record.keys[0]!}`, record.as_of)
    const document = credentialOf(record, entityType, entityId, facts)
    return {
      release: record.release,
      document: { ...document, proof: [{ ...options, proofValue }] },
    }
  }

  /** Returns a status list by its number, or undefined. @throws ServiceError as `issuedCredential`. */
  async statusList(number: number): Promise<Uint8Array | undefined> {
    const file = this.#current?.record.status_lists[number]
    if (!this.#current || !file) return undefined
    const { issue, record } = this.#current
    return this.#lists.get(`${issue} ${file.path}`, async () => ({
      value: await readIssueBytes(this.#store, issue, record, file),
      sizeBytes: file.size_bytes,
    }))
  }
}
