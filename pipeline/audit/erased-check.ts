// Checks whom a manifest says to be erased: against its plan, the release before, the records of the store,
// and what the release publishes.
import type { ErasedPerson, ReleaseManifest } from '../../schemas/manifests.ts'
import type { Database } from '../duckdb.ts'
import { canonicalText } from '../proof/canonical.ts'
import { erasedPath, manifestPath } from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import { listErased, rowsOfPeople } from '../tables/left-out.ts'
import type { ReadablePlan } from '../release/state.ts'
import type { Findings } from './findings.ts'
import { type AuditReport, unlessCorrupt } from './report.ts'

type Erased = Pick<ReleaseManifest, 'erased_people'>

/** The write of a record may take some minutes, and clocks differ. */
const LATEST_MS = 10 * 60_000

/** Returns whom an earlier release has as erased and this one has not, or with another reason. */
function broughtBack({ erased_people = [] }: Erased, before: Erased | undefined): ErasedPerson[] {
  const stillErased = new Set(erased_people.map(canonicalText))
  return (before?.erased_people ?? []).filter((person) => !stillErased.has(canonicalText(person)))
}

/** Adds a fault for each person whom a release has no longer as erased. */
export function checkErasedStay(
  findings: Findings,
  manifest: ReleaseManifest,
  before: ReleaseManifest | undefined,
): void {
  const { release } = manifest
  for (const { user_id } of broughtBack(manifest, before)) {
    findings.fault(
      manifestPath(release),
      `does not say that ${user_id} is erased, as release ${release - 1} does`,
    )
  }
}

/** Adds a fault for each erasure that differs from the plan, from its record or from the release before. */
export async function checkErased(
  store: Store,
  manifest: ReleaseManifest,
  plan: ReadablePlan | undefined,
  before: ReleaseManifest | undefined,
  report: AuditReport,
): Promise<void> {
  const { as_of, erased_people: listed = [] } = manifest
  const faults: string[] = []
  if (plan && canonicalText(listed) !== canonicalText(plan.erased_people ?? [])) {
    faults.push('manifest.json: it lists other erased people than plan.json')
  }
  for (const { user_id } of broughtBack(manifest, before)) {
    faults.push(`manifest.json: ${user_id} is not listed as erased as in the release before`)
  }
  const records = await unlessCorrupt(listErased(store), report)
  if (records) {
    const recorded = new Map(records.map((person) => [person.user_id, person]))
    for (const person of listed) {
      const path = erasedPath(person.user_id)
      const record = recorded.get(person.user_id)
      recorded.delete(person.user_id)
      if (!record) faults.push(`${path}: is missing`)
      else if (canonicalText(record) !== canonicalText(person)) {
        faults.push(`manifest.json: it differs from ${path}`)
      }
    }
    const asOfMs = Date.parse(as_of)
    for (const { user_id, erased_at } of recorded.values()) {
      if (Date.parse(erased_at) + LATEST_MS >= asOfMs) continue
      faults.push(`manifest.json: ${user_id} is not listed as erased, and was at ${erased_at}`)
    }
  }
  report.faults.push(...faults)
}

/** Returns the erased people of whom the view `public_forecasts` has rows. */
export async function erasedInPublic(database: Database, { erased_people = [] }: Erased): Promise<string[]> {
  const theirs = rowsOfPeople('forecasts', erased_people)
  if (theirs === undefined) return []
  const rows = await database.rows<{ id: string }>(
    `SELECT DISTINCT entity_id AS id FROM public_forecasts WHERE ${theirs} ORDER BY id`,
  )
  return rows.map(({ id }) => id)
}
