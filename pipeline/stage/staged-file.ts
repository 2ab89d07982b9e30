// Describes a file that a stage has put to the stage that commits.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { type ManifestFile, manifestFile, tree } from '../../schemas/manifests.ts'
import { base64Of } from '../proof/base64.ts'
import { type LargeFile, type OutputFile, entryOf } from '../release/shards.ts'

const count = z.number().int().min(0)
const facts = {
  /**
   * A shard has the number of its pairs, that of its entities in lists, that of these with an owner, and its
   * copy in the day's snapshot.
   */
  pairs: count.optional(),
  owned: count.optional(),
  listed: count.optional(),
  copy: manifestFile.pick({ size_bytes: true, sha256: true }).optional(),
  /** A shard, and the index of the categories, have the number of their entries on boards by category. */
  categories: count.optional(),
  /** A file of owners has the number of its agents. */
  agents: count.optional(),
  /** A file of settled questions has how many all of these files have. */
  asked: count.optional(),
}
const stagedFile = manifestFile.extend({ ...facts, tree: tree.optional() })
export type StagedFile = z.infer<typeof stagedFile>
export type FileFacts = Pick<StagedFile, keyof typeof facts>

export function describe(file: OutputFile | LargeFile, own: FileFacts = {}): StagedFile {
  const { subtree } = file
  const { copy, ...numbers } = own
  return {
    ...entryOf(file),
    ...numbers,
    ...(copy ? { copy: { size_bytes: copy.size_bytes, sha256: copy.sha256 } } : {}),
    ...(subtree ? { tree: { root: base64Of(subtree.root), size: subtree.size } } : {}),
  }
}

/** @throws ServiceError `invalid` for anything else. */
export function parseStagedFile(json: unknown): StagedFile {
  const parsed = stagedFile.safeParse(json)
  if (parsed.success) return parsed.data
  throw new ServiceError('invalid', `this describes no file: ${JSON.stringify(json).slice(0, 200)}`)
}

/** Returns the entry of the file in the manifest. */
export function manifestEntry(file: StagedFile): ManifestFile {
  const { pairs: _, owned: _o, listed: _l, copy: _c, agents: _a, tree: _t, ...rest } = file
  const { categories: _n, asked: _s, ...entry } = rest
  return entry
}
