// The files of a release and of a snapshot while they are made.
import type { ManifestFile, ReleaseTrees } from '../../schemas/manifests.ts'
import { sha256Hex } from '../proof/canonical.ts'
import type { TreeHead } from '../proof/merkle-proof.ts'
import type { Body, LocalFile } from '../store/body.ts'

/** The part of a tree of the release that a file holds. */
export interface Subtree extends TreeHead {
  tree: keyof ReleaseTrees
}

/** A file of a release or a snapshot, under its path there. */
export interface OutputFile extends Omit<ManifestFile, 'size_bytes' | 'sha256'> {
  bytes: Uint8Array
  subtree?: Subtree
}

/** A file that may be too large for memory. It is on this machine. */
export interface LargeFile extends Omit<OutputFile, 'bytes'> {
  file: LocalFile
}

export function bodyOf(output: OutputFile | LargeFile): Body {
  return 'file' in output ? output.file : output.bytes
}

/** Returns the entry of a file in a manifest. */
export function entryOf({
  subtree: _subtree,
  ...output
}: OutputFile | (Omit<OutputFile, 'bytes'> & { file: Omit<LocalFile, 'location'> })): ManifestFile {
  if ('file' in output) {
    const { file, ...described } = output
    return { ...described, size_bytes: file.sizeBytes, sha256: file.sha256 }
  }
  const { bytes, ...described } = output
  return { ...described, size_bytes: bytes.byteLength, sha256: sha256Hex(bytes) }
}

/** Returns the signature of a payload's bytes, or null if signing is off. */
export type SignBytes = (bytes: Uint8Array) => string | null
