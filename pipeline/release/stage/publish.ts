// `fvs stage publish`: reads lines, and puts the files of one kind.
import { ServiceError } from '../../../schemas/errors.ts'
import { SCORED_KINDS } from '../files/kinds.ts'
import type { ReleaseContext } from '../state.ts'
import type { Input } from './lines.ts'
import { publishing } from './publishing.ts'

export interface PublishRequest {
  release: number
  /** The name of the kind. */
  files: string
  /** The SHA-256 of the tally, for the kinds that rank entities. */
  tally?: string | undefined
}

/**
 * Puts the files of a kind. Yields the lines that describe them, and the lines that later stages need.
 *
 * @throws ServiceError `invalid` for a kind that is not made from lines, and for wrong lines; `conflict` if
 *   another run has published the release.
 */
export async function* publishLines(
  context: ReleaseContext,
  { release, files, tally }: PublishRequest,
  input: Input,
): AsyncIterable<string> {
  const kind = SCORED_KINDS.find(({ name }) => name === files)
  if (!kind) {
    const names = SCORED_KINDS.map(({ name }) => name).join(', ')
    throw new ServiceError(
      'invalid',
      `no stage publishes ${JSON.stringify(files)}; these are there: ${names}`,
    )
  }
  yield* kind.publish(await publishing(context, release, tally), input)
}
