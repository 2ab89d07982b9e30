// Holds the times of settled forecasts to the log, for an audit from outside: their proofs are the service's
// to give, and a folder of its files has none.
import type { PipelineComponents } from '../components.ts'
import { withDatabase } from '../duckdb.ts'
import type { Statement } from '../../schemas/statement.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { VerifierKey } from '../proof/note-keys.ts'
import type { HttpStore } from '../store/http.ts'
import { releasePrefix } from '../store/paths.ts'
import {
  type SettledTimes,
  checkSettledTimes,
  isSettledFile,
  timesText,
} from '../transparency/settled-times.ts'
import type { Checked } from './public-copy.ts'

/** How many forecasts were held to the log, and how many were not. */
export type CheckedTimes = Omit<SettledTimes, 'bad'>
export const NO_TIMES: CheckedTimes = { forecasts: 0, checked: 0, imported: 0, exempt: 0, unreached: null }

const DATA = /\/data$/

interface TimesContext extends Pick<PipelineComponents, 'openDatabase'> {
  progress: (step: string) => void
  keys: readonly VerifierKey[]
  statements: readonly Statement[]
}

/** Adds a fault for each forecast that is backdated, and notes what was not checked. */
export async function checkTimesOutside(
  context: TimesContext,
  { served, copy, findings, report, manifest }: Checked,
): Promise<CheckedTimes> {
  const { keys, statements, openDatabase, progress } = context
  const unchecked = (why: string) => {
    findings.notes.push(`whether forecasts are backdated was not checked, since ${why}`)
    return NO_TIMES
  }
  if (report.data_files_checked === 0) return unchecked('this address serves none')
  if (findings.faults.length > 0) return unchecked('files are missing or are others')
  if (!DATA.test(served.url)) {
    return unchecked(
      `${served.url} is no address of a service that ends in /data, beside which it has the proofs`,
    )
  }
  progress('comparing times with the log')
  const { release, public: tables } = manifest
  const files = tables.filter((file) => file.release === release && isSettledFile(file.path))
  const service = served.at(served.url.replace(DATA, ''))
  const statementOf = (releaseNumber: number) => {
    const found = statements[releaseNumber - 1]
    if (found) return Promise.resolve(found)
    throw new ServiceError('invalid', `the log has no release ${releaseNumber}`)
  }
  const found = await withDatabase(openDatabase, async (database) => {
    // Another server of the same files has no proofs, and has not lied.
    if (!(await isService(service))) return undefined
    const quarantinedIn = async (releaseNumber: number) =>
      (await copy.manifest(await statementOf(releaseNumber)))?.quarantined ?? []
    const settled = { database, keys, service, statementOf, quarantinedIn }
    const places = files.map((file) => copy.store.localPath(releasePrefix(release) + file.path))
    return checkSettledTimes(settled, places, statements[release - 1]!)
  })
  if (!found) return unchecked(`${service.url} shows no log, so that it is not asked for proofs`)
  const { bad, ...times } = found
  for (const { detail } of bad) findings.fault('forecasts', detail)
  findings.notes.push(...timesText(times))
  return times
}

async function isService(service: HttpStore): Promise<boolean> {
  try {
    return (await service.ask('log/checkpoint')) !== undefined
  } catch (error) {
    if (!(error instanceof ServiceError && error.kind === 'unavailable')) throw error
    return false
  }
}
