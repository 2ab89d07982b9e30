// The stages that publish: the plan by which they work, and the lines that they print.
import { ServiceError } from '../../../schemas/errors.ts'
import { signatureOf } from '../../proof/hmac.ts'
import { writerOf } from '../commit.ts'
import { type LargeFile, type OutputFile, type SignBytes, bodyOf } from '../output.ts'
import type { Provenance } from '../payloads.ts'
import { type ReleasePlan, ownPlan, provenanceOf } from '../plan.ts'
import type { ReleaseContext } from '../state.ts'
import { lineOfFields } from './lines.ts'
import { type FileFacts, stagedFileOf } from './staged-file.ts'
import { type FieldOfRelease, readTally } from './tally.ts'

/** A stage that publishes files of a planned release. */
export interface Publishing {
  context: ReleaseContext
  plan: ReleasePlan
  provenance: Provenance
  sign: SignBytes
  /** Reads the tally. @throws ServiceError `invalid` if the caller has not named it. */
  field: () => Promise<FieldOfRelease>
  /**
   * Puts a file, and returns the line that describes it. @throws ServiceError `conflict` if another run has
   * published the release.
   */
  put: (file: OutputFile | LargeFile, facts?: FileFacts) => Promise<string>
}

/**
 * Begins a stage that publishes.
 *
 * @param tally the SHA-256 of the tally, needed by stages that rank entities.
 * @throws ServiceError as `ownPlan` does.
 */
export async function publishing(
  context: ReleaseContext,
  release: number,
  tally: string | undefined,
): Promise<Publishing> {
  const { store, secrets } = context
  const plan = await ownPlan(context, release)
  const write = writerOf(store, release)
  return {
    context,
    plan,
    provenance: provenanceOf(plan, release),
    sign: (bytes) => (secrets ? signatureOf(bytes, secrets) : null),
    async field() {
      if (tally !== undefined) return readTally(store, release, tally)
      throw new ServiceError(
        'invalid',
        'these files rank entities: give --tally, what fvs stage tally printed',
      )
    },
    async put(file, facts = {}) {
      if (!(await write(file.path, bodyOf(file)))) {
        throw new ServiceError('conflict', `another run has published release ${release}`)
      }
      const described = JSON.stringify(stagedFileOf(file, facts))
      return lineOfFields(['file', null, null, null, null, null, null, null, described])
    },
  }
}
