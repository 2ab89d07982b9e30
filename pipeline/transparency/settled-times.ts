// Asks a service for the proofs of forecasts that it shows as settled, and compares the time in each with the
// log. It needs no secret and not the store, so that anyone can find a backdated forecast.
import pMap from 'p-map'
import { ServiceError } from '../../schemas/errors.ts'
import type { Statement } from '../../schemas/statement.ts'
import { type Database, literal, parquet } from '../duckdb.ts'
import { decoded } from '../proof/canonical.ts'
import type { VerifierKey } from '../proof/note-keys.ts'
import type { HttpStore } from '../store/http.ts'
import {
  type PublicForecast,
  type QuarantinedForecasts,
  acknowledgementOf,
  earliestAfter,
  mayExplain,
  takenInBy,
} from './taken-in.ts'

/** Few enough for the limits of calls of one address. */
const MOST_PROOFS = 100
const PROOFS_AT_ONCE = 4
/** A proof that is missing is a failed call, of which an address has few. */
const MOST_FAULTS = 10
const PROOF_BYTES = 64 * 1024

export interface SettledContext {
  database: Database
  /** The keys of the log that the reader knows. */
  keys: readonly VerifierKey[]
  service: Pick<HttpStore, 'ask'>
  /** Returns the statement of a release that the reader's log has. */
  statementOf: (release: number) => Promise<Statement>
  /** Returns what the manifest of a release, as the log has it, says was in quarantine. */
  quarantinedIn: (release: number) => Promise<readonly QuarantinedForecasts[]>
}

export interface BadTime {
  detail: string
  body: string
  proof: string | undefined
}

export interface SettledTimes {
  /** The forecasts that came by the API and have proofs. */
  forecasts: number
  /** How many of them were checked: all, or a sample. */
  checked: number
  /** Imported forecasts, of which no proof says when they came. */
  imported: number
  /** Forecasts that are late because their object was in quarantine. */
  exempt: number
  /** Why no further proofs were asked for; null if nothing kept the service from giving them. */
  unreached: string | null
  bad: BadTime[]
}

/**
 * Checks the forecasts in public files of a release. Of more than a hundred it checks those whose id has the
 * smallest SHA-256 behind that of the manifest: anyone finds the same, and nobody chooses them.
 *
 * @param files on this machine, as the log has them.
 */
export async function checkSettledTimes(
  context: SettledContext,
  files: readonly string[],
  { release, manifest_sha256: seed }: Pick<Statement, 'release' | 'manifest_sha256'>,
): Promise<SettledTimes> {
  const found: SettledTimes = { forecasts: 0, checked: 0, imported: 0, exempt: 0, unreached: null, bad: [] }
  if (files.length === 0) return found
  const { database } = context
  const rows = parquet(files)
  const [counted] = await database.rows<{ forecasts: number; imported: number }>(
    `SELECT count_if(source = 'api')::INTEGER AS forecasts, count_if(source <> 'api')::INTEGER AS imported FROM ${rows}`,
  )
  Object.assign(found, counted)
  const sample = await database.rows<PublicForecast>(
    `SELECT forecast_id, entity_type, entity_id, question_id, probability, forecast_at FROM ${rows} WHERE source = 'api'
     ORDER BY sha256(${literal(seed)} || forecast_id), forecast_id LIMIT ${MOST_PROOFS}`,
  )
  await pMap(
    sample,
    async (forecast) => {
      if (found.bad.length >= MOST_FAULTS || found.unreached !== null) return
      const body = acknowledgementOf(forecast)
      try {
        const proof = await context.service.ask(`forecasts/${forecast.forecast_id}/proof`, PROOF_BYTES)
        const verdict = await verdictOn(context, forecast, body, proof, release)
        found.checked += 1
        if (verdict === 'exempt') found.exempt += 1
        else if (verdict !== undefined) {
          const detail = `the forecast ${forecast.forecast_id} ${verdict}`
          found.bad.push({ detail, body: decoded(body), proof: proof && new TextDecoder().decode(proof) })
        }
      } catch (error) {
        // The proofs that came before may show a fault, so that they are not thrown away.
        if (!(error instanceof ServiceError && error.kind === 'unavailable')) throw error
        found.unreached = error.message
      }
    },
    { concurrency: PROOFS_AT_ONCE },
  )
  return found
}

/** Whether a public file of a release has forecasts, which are all on settled questions. */
export function isSettledFile(path: string): boolean {
  return path.startsWith('public/forecasts/')
}

/** Says what was checked, and each thing that was not. */
export function timesText({
  forecasts,
  checked,
  imported,
  exempt,
  unreached,
}: Omit<SettledTimes, 'bad'>): string[] {
  const which =
    checked === forecasts
      ? `all ${forecasts} forecasts`
      : `a sample of ${checked} of ${forecasts} forecasts, the first by the SHA-256 of the hash of the manifest and the id; the other ${forecasts - checked} were not checked; these are forecasts`
  return [
    `times held to the log by proofs: ${which} in the files of settled forecasts that are new; forecasts in older files were not checked`,
    ...(unreached === null ? [] : [`no further proofs were asked for, since ${unreached}`]),
    ...(imported > 0 ? [`${imported} forecasts there were imported, and no proof says when they came`] : []),
    ...(exempt > 0
      ? [
          `${exempt} forecasts are late, and of a time of which an object was in quarantine, as the release says`,
        ]
      : []),
  ]
}

/** Returns the fault of a forecast, as the rest of a sentence; undefined if its time holds. */
async function verdictOn(
  context: SettledContext,
  { forecast_id: id, entity_type: type, forecast_at: at }: PublicForecast,
  body: Uint8Array,
  proof: Uint8Array | undefined,
  shownBy: number,
): Promise<string | undefined> {
  if (!proof) return `is shown by release ${shownBy}, and there is no proof that any release took it in`
  const { keys, statementOf, quarantinedIn } = context
  try {
    const release = await takenInBy(body, decoded(proof), keys, statementOf)
    if (release > shownBy) return `is shown by release ${shownBy}, and only release ${release} took it in`
    if (release === 1) return undefined
    const before = await statementOf(release - 1)
    const earliest = earliestAfter(new Date(before.as_of), type)
    if (at >= earliest) return undefined
    const quarantined = await quarantinedIn(release)
    if (quarantined.some((object) => mayExplain(object, { id, at }))) return 'exempt'
    return (
      `is backdated: it says ${at.toISOString()}, and release ${release - 1} of ${before.as_of} does not have it; ` +
      `expected ${earliest.toISOString()} or later`
    )
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind === 'unavailable') throw error
    return `has a proof that does not hold: ${error.message}`
  }
}
