// How a stage describes a file that it has put, for the stage that commits.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { type ManifestFile, manifestFile, tree } from '../../schemas/payloads.ts'
import { base64Of } from '../proof/base64.ts'
import { type LargeFile, type OutputFile, entryOf } from '../release/shards.ts'

const count = z.number().int().min(0)
const facts = {
  /**
   * Of a shard: the pairs of its entities, how many of these have an owner, and its copy in the day's
   * snapshot.
   */
  pairs: count.optional(),
  owned: count.optional(),
  copy: manifestFile.pick({ size_bytes: true, sha256: true }).optional(),
  /** Of a file of owners. */
  agents: count.optional(),
  /** Of the names. */
  questions: count.optional(),
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

/** What the manifest says of it. */
export function manifestEntry(file: StagedFile): ManifestFile {
  const { pairs: _, owned: _o, copy: _c, agents: _a, questions: _q, tree: _t, ...entry } = file
  return entry
}
