// Compares a manifest's list of the quarantine with the plan, the release before it and the records.
import { ServiceError } from '../../schemas/errors.ts'
import type { QuarantinedObject, ReleaseManifest } from '../../schemas/manifests.ts'
import { canonical } from '../proof/canonical.ts'
import { quarantineRecordPath } from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import { readQuarantined } from '../tables/quarantine.ts'

/**
 * Returns the faults in the list of a manifest. It compares the list with a plan or an earlier release only
 * if there is one.
 */
export async function quarantineFaults(
  store: Store,
  { quarantined }: ReleaseManifest,
  planned: readonly object[] | undefined,
  before: readonly QuarantinedObject[],
): Promise<string[]> {
  const faults: string[] = []
  if (planned && !isSame(quarantined, planned)) {
    faults.push('manifest.json: it lists other objects in quarantine than plan.json')
  }
  const listed = new Map(quarantined.map((object) => [object.key, object]))
  for (const { key } of before) {
    if (!listed.has(key)) {
      faults.push(`manifest.json: ${key} is not listed as in quarantine, and was in the release before`)
    }
  }
  for (const object of quarantined) {
    const path = quarantineRecordPath(object.key)
    try {
      const record = await readQuarantined(store, object.key)
      if (!record) faults.push(`${path}: is missing`)
      else if (!isSame(record, object)) faults.push(`manifest.json: it differs from ${path}`)
    } catch (error) {
      if (!(error instanceof ServiceError && error.kind === 'corrupt')) throw error
      faults.push(error.message)
    }
  }
  return faults
}

function isSame(one: object, other: object): boolean {
  return Buffer.compare(canonical(one), canonical(other)) === 0
}
