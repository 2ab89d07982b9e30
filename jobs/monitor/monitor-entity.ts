// Looks at the record of one entity for `fvs monitor`: checks it by the public log, and compares it with the
// one before.
import type { SignedCheckpoint } from '../../pipeline/proof/checkpoint.ts'
import { noteText } from '../../pipeline/proof/note.ts'
import { printable } from '../../pipeline/printable.ts'
import type { LogReader, ShownRecord } from '../../pipeline/transparency/log-reader.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { callPath } from '../../schemas/entity-paths.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { decisionOf } from '../verify/decision.ts'
import { differenceOf, identityOf, recordAt } from '../../pipeline/proof/identity.ts'
import { type Inconsistency, type RecordChange, checked } from './monitor-news.ts'
import { type Facts, factsOf } from './state-file.ts'
import { jsonOf } from '../command-line/read-place.ts'

export interface Seen {
  /** The latest checkpoint of the log that was shown. */
  head: SignedCheckpoint
  shown: ShownRecord | null
  changes: RecordChange[]
}

/** The path of an entity's calls below the address of the service, by `agent:UUID` or `forecaster:UUID`. */
export function entityPath(entity: string): string {
  const [type, id] = entity.split(':') as [EntityType, string]
  return callPath(type, id).slice(1)
}

/**
 * @param kept the record before; null if there was none, undefined at the first look, which takes the record
 *   as it is.
 * @param least the last release that the log had at the look before: an older record is an old copy.
 * @throws ServiceError `unavailable` if the service does not answer.
 */
export function lookAtEntity(
  log: LogReader,
  head: SignedCheckpoint,
  entity: string,
  kept: ShownRecord | null | undefined,
  least: number,
): Promise<Seen | Inconsistency> {
  const found: Partial<ShownRecord> = {}
  return checked({ entity, kept: { checkpoint: noteText(head.note), ...kept }, found }, async () => {
    const path = `${entityPath(entity)}/verification`
    const bytes = await log.service.ask(path)
    if (!bytes && kept) throw conflict(`it had a record, and ${log.url}/${path} answers 404`)
    if (!bytes) return { head, shown: null, changes: [] }
    const record = (found.record = new TextDecoder().decode(bytes))
    const content = jsonOf(bytes)
    const is = factsOf(record)
    const difference = differenceOf(recordAt(`${log.url}/${path}`), identityOf(content))
    if (!is || difference !== undefined) throw conflict(difference ?? 'this is no verification')
    const proof = await log.service.ask(`${path}/proof?release=${is.release}`)
    if (!proof) throw conflict(`${log.url} has no proof of it`)
    const shown = { record, proof: (found.proof = new TextDecoder().decode(proof)) }
    const was = kept ? factsOf(kept.record) : undefined
    if (kept && was?.release === is.release && kept.record !== record)
      throw conflict(`release ${is.release} has shown two records of it`)
    const later = await log.assertRecord(head, shown)
    const decision = decisionOf(content)
    if (!decision || decision.fault !== undefined) {
      throw conflict(decision?.fault ?? 'its record lacks the numbers that decide its title')
    }
    if (is.release < least)
      throw conflict(`its record is of release ${is.release}, and the log had ${least} before: an old copy`)
    if (was && is.as_of < was.as_of) throw conflict(`its record was as of ${was.as_of}, and now ${is.as_of}`)
    return { head: later, shown, changes: kept === undefined ? [] : changesOf(entity, was, is) }
  })
}

function conflict(detail: string): ServiceError {
  return new ServiceError('conflict', detail)
}

function changesOf(entity: string, was: Facts | undefined, is: Facts): RecordChange[] {
  const { release, as_of } = is
  const [from, to] = [was, is].map((record) => record && titleOf(record))
  const [had, has] = [from, to].map(isCertificate)
  const type = had === has ? 'title.changed' : has ? 'certificate.won' : 'certificate.lost'
  const changes: RecordChange[] = [
    { type, entity, release, as_of, from: from ?? null, to: to ?? null },
    {
      type: 'retirement.changed',
      entity,
      release,
      as_of,
      from: was?.retired_at ?? null,
      to: is.retired_at ?? null,
    },
  ]
  return changes.filter((change) => change.from !== change.to)
}

/** As in: is certified by release 3, as of 2026-03-01T12:00:00.000Z. */
export function summaryOf(shown: ShownRecord | null): string {
  if (!shown) return 'has no record'
  const found = factsOf(shown.record)!
  return printable(`is ${titleOf(found)} by release ${found.release}, as of ${found.as_of}`)
}

function titleOf({ badge, certification }: Facts): string | undefined {
  return badge ?? certification
}

function isCertificate(title: string | undefined): boolean {
  return title === 'certified'
}
