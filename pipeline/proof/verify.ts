// Verifies, with public keys alone, proofs that a body was published or taken in, and receipts that a
// forecast was taken in.
import { type Statement, type StatementTree, statement as statementSchema } from '../../schemas/statement.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { hashOfBase64 } from './base64.ts'
import { canonicalText, decoded } from './canonical.ts'
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts'
import { leafHash } from './merkle.ts'
import { verifyInclusion } from './merkle-proof.ts'
import type { Note } from './note.ts'
import type { VerifierKey } from './note-keys.ts'
import { type HeldSignature, heldSignatures } from './note-signatures.ts'
import { quoted } from './quoted.ts'
import { batchOf } from './receipts.ts'
import { parseInnerProof, parseTlogProof } from './tlog-proof.ts'

export interface Trust {
  /** The log's keys that the reader knows from a source other than the service. */
  keys: readonly VerifierKey[]
  witnesses: readonly VerifierKey[]
  /** The checkpoint must have cosignatures of at least this many of these witnesses. */
  leastCosignatures: number
}

interface Vouched {
  checkpoint: Checkpoint
  /** Signatures by the log, at least one. */
  signatures: readonly HeldSignature[]
}

export interface VerifiedProof extends Vouched {
  /** The tree of the statement that has the body. */
  tree: StatementTree
  statement: Statement
  cosignatures: readonly HeldSignature[]
}

export interface VerifiedReceipt extends Vouched {
  /** The UUID of the batch. */
  batch: string
}

/**
 * Checks that a body is in a tree of a statement, that the statement is in the log, and that the log signed
 * the checkpoint.
 *
 * @throws ServiceError `invalid` with the check that fails.
 */
export function verifyProof(body: Uint8Array, proof: string, trust: Trust): VerifiedProof {
  const { extra, index, hashes, checkpoint: noteText } = parseTlogProof(proof)
  if (extra === undefined) throw new ServiceError('invalid', 'the proof has no statement: is it a receipt?')
  const inner = parseInnerProof(extra)
  const statement = parseStatement(inner.statement)
  const members = parseCanonical(body, 'the body')
  const tree = treeOf(members)
  const head = statement[tree]
  if (head === null) throw new ServiceError('invalid', `release ${statement.release} has no tree ${tree}`)
  const root = hashOfBase64(head.root)
  verifyInclusion(leafHash(body), inner.index, inner.hashes, { size: head.size, root })

  const { checkpoint, note } = parseCheckpoint(noteText)
  if (index !== statement.release - 1) {
    throw new ServiceError('invalid', `release ${statement.release} is not entry ${index} of a log`)
  }
  verifyInclusion(leafHash(inner.statement), index, hashes, checkpoint)

  const signatures = logSignatures(note, checkpoint.origin, trust.keys)
  if (tree !== 'forecasts') assertSame(members, statement)
  return { checkpoint, tree, statement, signatures, cosignatures: cosignaturesOf(note, trust) }
}

/**
 * Checks that a body is in a batch whose checkpoint the log signed.
 *
 * @throws ServiceError `invalid` with the check that fails.
 */
export function verifyReceipt(
  body: Uint8Array,
  receipt: string,
  { keys }: Pick<Trust, 'keys'>,
): VerifiedReceipt {
  const { extra, index, hashes, checkpoint: noteText } = parseTlogProof(receipt)
  if (extra !== undefined) throw new ServiceError('invalid', 'a receipt has no extra: is it a proof?')
  if (treeOf(parseCanonical(body, 'the body')) !== 'forecasts') {
    throw new ServiceError('invalid', 'only forecasts have receipts, and the body has no forecast_id')
  }
  const { checkpoint, note } = parseCheckpoint(noteText)
  const batch = batchOf(checkpoint.origin)
  if (batch === undefined) {
    throw new ServiceError('invalid', `no receipts have the origin ${quoted(checkpoint.origin)}`)
  }
  verifyInclusion(leafHash(body), index, hashes, checkpoint)
  return { checkpoint, batch: batch.uuid, signatures: logSignatures(note, batch.origin, keys) }
}

/**
 * Returns the signatures by the log of this name. @throws ServiceError `invalid` if there is none, or one
 * does not hold.
 */
function logSignatures(note: Note, name: string, keys: readonly VerifierKey[]): HeldSignature[] {
  const named = keys.filter((key) => key.use === 'log' && key.name === name)
  const held = heldSignatures(note, named)
  if (held.length > 0) return held
  const list = (all: readonly { name: string; keyId: string }[]) =>
    all.map((each) => `${each.name}+${each.keyId}`).join(', ')
  throw new ServiceError(
    'invalid',
    `no known key of ${quoted(name)} signed the checkpoint, but ${list(note.signatures)}: known are ${list(keys) || 'none'}, so give a key of that log, from elsewhere`,
  )
}

/** @throws ServiceError `invalid` if there are too few, or one does not hold. */
function cosignaturesOf(note: Note, { witnesses, leastCosignatures }: Trust): HeldSignature[] {
  const held = heldSignatures(
    note,
    witnesses.filter(({ use }) => use === 'witness'),
  )
  // A witness under two names counts once.
  const signers = new Set(held.map(({ key }) => Buffer.from(key.publicBytes).toString('hex')))
  if (signers.size >= leastCosignatures) return held
  throw new ServiceError(
    'invalid',
    `the checkpoint has cosignatures of ${signers.size} known witnesses, not of ${leastCosignatures}`,
  )
}

/**
 * Returns the tree that must have a body. The body itself decides it, so that nobody can name the wrong one.
 */
function treeOf(members: Readonly<Record<string, unknown>>): StatementTree {
  if ('forecast_id' in members) return 'forecasts'
  return 'user_id' in members ? 'forecaster' : 'agent'
}

/**
 * @throws ServiceError `invalid` for a payload of another release, time or environment than the statement's.
 */
function assertSame(members: Readonly<Record<string, unknown>>, statement: Statement): void {
  for (const name of ['release', 'as_of', 'environment'] as const) {
    if (members[name] === statement[name]) continue
    throw new ServiceError(
      'invalid',
      `the body has the ${name} ${JSON.stringify(members[name])}, the statement ${JSON.stringify(statement[name])}`,
    )
  }
}

/** @throws ServiceError `invalid` for anything but a statement in canonical form. */
export function parseStatement(bytes: Uint8Array): Statement {
  const parsed = statementSchema.safeParse(parseCanonical(bytes, 'the statement'))
  if (parsed.success) return parsed.data
  const { path, message } = parsed.error.issues[0]!
  throw new ServiceError(
    'invalid',
    `the statement does not fit at ${JSON.stringify(path.join('.'))}: ${message}`,
  )
}

/**
 * Parses canonical JSON, in which every reader sees the same members: other JSON may name one twice. @throws
 * ServiceError `invalid` for anything else.
 */
function parseCanonical(bytes: Uint8Array, what: string): Record<string, unknown> {
  const text = decoded(bytes)
  let value: unknown
  let form: string
  try {
    value = JSON.parse(text)
    form = canonicalText(value)
  } catch (cause) {
    throw new ServiceError('invalid', `${what} is not JSON`, { cause })
  }
  if (form !== text || typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ServiceError('invalid', `${what} is not a JSON object in canonical form`)
  }
  return value as Record<string, unknown>
}
