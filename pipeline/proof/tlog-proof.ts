// Proofs as texts that need nothing else (https://c2sp.org/tlog-proof): an index, a path, and the checkpoint
// that the path leads to.
import { ServiceError } from '../../schemas/errors.ts'
import { base64Of, bytesOfBase64, hashOfBase64 } from './base64.ts'
import { decoded, encoded } from './canonical.ts'
import { parseCount } from './checkpoint.ts'
import type { Hash } from './merkle.ts'
import { quoted } from './quoted.ts'

const HEADER = 'c2sp.org/tlog-proof@v1'
const EXTRA = 'extra '
const INDEX = 'index '
const LONGEST_PATH = 63

export interface Path {
  index: number
  /** From the leaf's sibling up. */
  hashes: readonly Hash[]
}

export interface TlogProof extends Path {
  extra: Uint8Array | undefined
  /** A signed note, not parsed yet. */
  checkpoint: string
}

/** The place of a body in a tree of a statement, and that statement: the `extra` of our proofs. */
export interface InnerProof extends Path {
  statement: Uint8Array
}

export function tlogProofText({ extra, checkpoint, ...path }: TlogProof): string {
  const extraLine = extra === undefined ? '' : `${EXTRA}${base64Of(extra)}\n`
  return `${HEADER}\n${extraLine}${pathText(path)}\n${checkpoint}`
}

/** @throws ServiceError `invalid` for anything else, and for a path of more than 63 hashes. */
export function parseTlogProof(text: string): TlogProof {
  const [header, rest] = cut(text, '\n')
  if (header !== HEADER) {
    throw new ServiceError('invalid', `a proof begins with ${HEADER}, not ${quoted(header)}`)
  }
  const [first, afterExtra] = rest.startsWith(EXTRA) ? cut(rest, '\n') : [undefined, rest]
  const extra = first === undefined ? undefined : bytesOfBase64(first.slice(EXTRA.length))
  const [path, checkpoint] = cut(afterExtra, '\n\n')
  return { extra, ...parsePath(path), checkpoint }
}

export function innerProofBytes({ statement, ...path }: InnerProof): Uint8Array {
  return Buffer.concat([encoded(`${pathText(path)}\n`), statement])
}

/** @throws ServiceError `invalid` for anything else, and for a path of more than 63 hashes. */
export function parseInnerProof(extra: Uint8Array): InnerProof {
  const [path, statement] = cut(decoded(extra), '\n\n')
  return { ...parsePath(path), statement: encoded(statement) }
}

function pathText({ index, hashes }: Path): string {
  return `${INDEX}${index}\n${hashes.map((hash) => `${base64Of(hash)}\n`).join('')}`
}

function parsePath(text: string): Path {
  const [indexLine = '', ...lines] = text.split('\n')
  if (!indexLine.startsWith(INDEX)) {
    throw new ServiceError('invalid', `a path begins with its index, not ${quoted(indexLine)}`)
  }
  if (lines.length > LONGEST_PATH) {
    throw new ServiceError('invalid', `a path has at most ${LONGEST_PATH} hashes, not ${lines.length}`)
  }
  return { index: parseCount(indexLine.slice(INDEX.length)), hashes: lines.map(hashOfBase64) }
}

/**
 * Returns the texts before and after the first separator. @throws ServiceError `invalid` if there is none.
 */
function cut(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  if (at < 0) throw new ServiceError('invalid', `the proof ends too early: ${quoted(text)}`)
  return [text.slice(0, at), text.slice(at + separator.length)]
}
