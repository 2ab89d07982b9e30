// Finds what rows would do and what the next release would change by them, without writing anything.
import { type ImportPart, type ImportWork, type Trial, comparedParts, freshOf } from './compare.ts'
import { type Correction, UNEXPLAINED, correctedOutcomes } from './corrections.ts'
import { onKnown } from './waiting.ts'

export interface Preview {
  /** The effect of each part. */
  trials: Trial[]
  /** Outcomes of the last release that the next one would replace. */
  corrected: Correction[]
  /** Whether rows are bad that a reason would make good. */
  needsReason: boolean
}

/** The parts come as those of `importParts`. @throws ServiceError as `tryParts` does. */
export function previewParts(context: ImportWork, parts: readonly ImportPart[]): Promise<Preview> {
  return onKnown(context, async (versions) => {
    const trials = await comparedParts(context, parts, versions)
    const saysOutcomes = parts.some(({ kind }) => kind === 'resolutions')
    return {
      trials,
      corrected: saysOutcomes
        ? await correctedOutcomes(context, versions.resolutions, freshOf('resolutions'))
        : [],
      needsReason: trials.some(({ bad }) => bad.byReason.some(({ reason }) => reason === UNEXPLAINED)),
    }
  })
}
