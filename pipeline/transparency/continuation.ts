// Tells whether a checkpoint continues a known one, which a witness must know before it believes, keeps or
// cosigns it.
import { ServiceError } from '../../schemas/errors.ts'
import { base64Of } from '../proof/base64.ts'
import type { Hash } from '../proof/merkle.ts'
import type { TreeHead } from '../proof/merkle-proof.ts'
import { type ReadTile, prefixFromTiles } from '../proof/tiles.ts'

/** `first`: no checkpoint was known, so this one is taken as it is. `same`: the log has not grown. */
export type Continuation = 'first' | 'same' | 'grown'

/**
 * Compares two checkpoints that the log has signed. The tiles may come from anyone, because they are checked
 * against the larger checkpoint.
 *
 * @throws ServiceError `conflict` for a checkpoint of another history and for an older one, with different
 *   messages; `corrupt` for tiles that prove nothing; and the errors of `read`.
 */
export async function continuationOf(
  known: TreeHead | undefined,
  found: TreeHead,
  read: ReadTile,
): Promise<Continuation> {
  if (known === undefined) {
    await prefixFromTiles(found.size, found, read)
    return 'first'
  }
  if (found.size === known.size) {
    if (areSame(found.root, known.root)) return 'same'
    const [root, other] = [base64Of(found.root), base64Of(known.root)]
    throw fork(`its ${found.size} entries have the root ${root}, and those that are known ${other}`)
  }
  const [prefix, tree] = found.size < known.size ? [found, known] : [known, found]
  const root = await prefixFromTiles(prefix.size, tree, read)
  if (!areSame(root, prefix.root)) {
    throw fork(
      `the first ${prefix.size} of ${tree.size} entries have the root ${base64Of(root)}, not ${base64Of(prefix.root)}`,
    )
  }
  if (prefix === known) return 'grown'
  throw new ServiceError(
    'conflict',
    `this checkpoint is older than the one that is known, ${found.size} entries of the same ${known.size}: ` +
      'an old copy, as caches have, or a log that was set back',
  )
}

function fork(how: string): ServiceError {
  return new ServiceError('conflict', `the log has signed two histories: ${how}`)
}

function areSame(one: Hash, other: Hash): boolean {
  return Buffer.compare(one, other) === 0
}
