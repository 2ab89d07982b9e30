// The option `--owner`: the name of the owner of a key or of an agent.
import { ServiceError } from '../../schemas/errors.ts'
import { name, normalKey } from '../../schemas/names.ts'
import { SHOWN_LENGTH } from '../../schemas/wording.ts'

/** Returns the normal form of an owner. @throws ServiceError `invalid` for a text that is no name. */
export function parseOwner(given: string): string {
  const owner = normalKey(given)
  const fault = name.safeParse(owner).error?.issues[0]?.message
  if (fault === undefined) return owner
  throw new ServiceError('invalid', `--owner is ${JSON.stringify(given.slice(0, SHOWN_LENGTH))}; it ${fault}`)
}
