// Checks that the store has every object that its own records name.
import { lostObjects } from '../../pipeline/backup/lost.ts'
import type { Components } from '../components/components.ts'
import { type Finding, fault, ok } from './finding.ts'

/** More would hide the other lines. */
const SHOWN = 3

/** Returns a finding for each folder of the store that has lost something. */
export async function checkObjects({ store }: Pick<Components, 'store'>): Promise<Finding[]> {
  const { lost, named } = await lostObjects(store)
  if (lost.length === 0) return [ok('objects', `all ${named} that the store names are there`)]
  const folders = Map.groupBy(lost, (path) => path.slice(0, path.indexOf('/')))
  return [...folders].map(([folder, paths]) => {
    const more = paths.length > SHOWN ? `, and ${paths.length - SHOWN} more` : ''
    return fault(
      'objects',
      `${paths.length} in ${folder}/ ${paths.length === 1 ? 'is' : 'are'} gone or cut off: ${paths.slice(0, SHOWN).join(', ')}${more}`,
      'make no release; copy them back from the backup: docs/recovery.md, Lost objects',
    )
  })
}
