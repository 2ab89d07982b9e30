// Exempts forecasts that come later than their time because their inbox object was in quarantine, as a
// manifest lists it, and was put back.
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { isInboxPath } from '../store/paths.ts'
import { readIntake } from '../tables/intake.ts'
import { isOfObject } from '../transparency/taken-in.ts'
import type { TablesContext } from './tables.ts'

export interface LateForecast {
  id: string
  at: Date
}

/**
 * Returns the late forecasts of a release that no object from the quarantine explains. An object that the
 * release has taken in explains as many forecasts as its record counts: first those whose ids the record
 * lists, and then others from about the time when it was written, because not all ids of a damaged object can
 * be read.
 */
export async function exemptFrom(
  { store, findings }: Pick<TablesContext, 'store' | 'findings'>,
  { release, tables, quarantined }: ReleaseManifest,
  known: number,
  late: readonly LateForecast[],
): Promise<LateForecast[]> {
  let left = [...late]
  const objects = new Map(
    quarantined.filter(({ key }) => isInboxPath('forecasts', key)).map((object) => [object.key, object]),
  )
  if (left.length === 0 || objects.size === 0) return left
  for (let version = known + 1; version <= (tables['forecasts'] ?? -1); version++) {
    for (const key of (await findings.read(readIntake(store, 'forecasts', version))) ?? []) {
      const object = objects.get(key)
      if (!object) continue
      const ids = new Set(object.forecast_ids)
      const isListed = ({ id }: LateForecast) => ids.has(id)
      const isTimely = ({ at }: LateForecast) => isOfObject(key, at)
      const likeliest = [
        ...left.filter(isListed),
        ...left.filter((each) => !isListed(each) && isTimely(each)),
      ]
      const exempt = new Set(likeliest.slice(0, object.rows ?? left.length))
      if (exempt.size === 0) continue
      left = left.filter((forecast) => !exempt.has(forecast))
      findings.notes.push(
        `${exempt.size} forecasts of release ${release} are later than their time: they are of ${key}, which was moved aside at ${object.at} and put back`,
      )
    }
  }
  return left
}
