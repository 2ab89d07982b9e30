// The text of a proof: a path in a tree of a release's statement, and the path of that statement in the
// public log.
import { type Path, innerProofBytes, tlogProofText } from '../../pipeline/proof/tlog-proof.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { PublicLog } from './public-log.ts'

/** @throws ServiceError `unavailable` for a release that is not logged yet. */
export async function loggedProof(
  log: Pick<PublicLog, 'statementOf'>,
  release: number,
  path: Path,
): Promise<string> {
  const logged = await log.statementOf(release)
  if (!logged) {
    const detail = `release ${release} is published and not in the public log yet: ask again`
    throw new ServiceError('unavailable', detail, { expose: true, retryAfterS: 5 })
  }
  const { statement, ...outer } = logged
  return tlogProofText({ extra: innerProofBytes({ ...path, statement }), ...outer })
}
