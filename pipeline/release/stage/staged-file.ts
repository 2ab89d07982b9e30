// The description of a file, from the stage that puts it for the stage that commits.
import { z } from 'zod'
import { ServiceError } from '../../../schemas/errors.ts'
import { type ManifestFile, manifestFile, releaseTrees, tree } from '../../../schemas/manifests.ts'
import { base64Of } from '../../proof/base64.ts'
import { type LargeFile, type OutputFile, entryOf } from '../output.ts'

const fileFacts = {
  /** Counts that must agree between kinds of files. */
  counts: z.record(z.string(), z.number().int().min(0)).optional(),
  /** The copy of a shard in the day's snapshot. */
  copy: manifestFile.pick({ size_bytes: true, sha256: true }).optional(),
}
const subtree = tree.extend({ tree: releaseTrees.keyof() })
const stagedFile = manifestFile.extend({ ...fileFacts, subtree: subtree.optional() })
export type StagedFile = z.infer<typeof stagedFile>
export type FileFacts = Pick<StagedFile, keyof typeof fileFacts>

export function stagedFileOf(file: OutputFile | LargeFile, own: FileFacts = {}): StagedFile {
  const { subtree: part } = file
  return {
    ...entryOf(file),
    ...own,
    ...(part && { subtree: { tree: part.tree, root: base64Of(part.root), size: part.size } }),
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
  const { counts: _counts, copy: _copy, subtree: _subtree, ...entry } = file
  return entry
}
