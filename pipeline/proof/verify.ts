// Verifies, with public keys alone, proofs that a body was published or taken in, and receipts that a
// forecast was taken in.
import type { Statement, StatementTree } from '../../schemas/statement.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { base64Of, hashOfBase64 } from './base64.ts'
import { canonicalText, decoded } from './canonical.ts'
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts'
import { sha256 } from './digest.ts'
import type { Hash } from './merkle.ts'
import { proveInclusion } from './merkle-proof.ts'
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
  /** The entry under the checkpoint; the first is 0. */
  index: number
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
export async function verifyProof(body: Uint8Array, proof: string, trust: Trust): Promise<VerifiedProof> {
  const { extra, index, hashes, checkpoint: noteText } = parseTlogProof(proof)
  if (extra === undefined) throw new ServiceError('invalid', 'the proof has no statement: is it a receipt?')
  const inner = parseInnerProof(extra)
  const statement = parseStatement(inner.statement)
  const members = parseCanonical(body, 'the body')
  const tree = treeOf(members)
  const head = statement[tree]
  if (head === null) throw new ServiceError('invalid', `release ${statement.release} has no tree ${tree}`)
  const root = hashOfBase64(head.root)
  await because(`these bytes are not in the tree “${tree}” of release ${statement.release}`, async () => {
    await proveInclusion(await leafOf(body), inner, { size: head.size, root })
  })

  const { checkpoint, note } = parseCheckpoint(noteText)
  if (index !== statement.release - 1) {
    throw new ServiceError('invalid', `release ${statement.release} is not entry ${index} of a log`)
  }
  await because('the checkpoint has another root', async () => {
    await proveInclusion(await leafOf(inner.statement), { index, hashes }, checkpoint)
  })

  const signatures = await logSignatures(note, checkpoint.origin, trust.keys)
  if (tree !== 'forecasts') assertSame(members, statement)
  return { checkpoint, index, tree, statement, signatures, cosignatures: await cosignaturesOf(note, trust) }
}

/**
 * Checks that a body is in a batch whose checkpoint the log signed.
 *
 * @throws ServiceError `invalid` with the check that fails.
 */
export async function verifyReceipt(
  body: Uint8Array,
  receipt: string,
  { keys }: Pick<Trust, 'keys'>,
): Promise<VerifiedReceipt> {
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
  await because('the checkpoint has another root', async () => {
    await proveInclusion(await leafOf(body), { index, hashes }, checkpoint)
  })
  return { checkpoint, index, batch: batch.uuid, signatures: await logSignatures(note, batch.origin, keys) }
}

/** @throws ServiceError `invalid` with these words, if a check fails; its cause has the roots. */
async function because(words: string, check: () => Promise<void>): Promise<void> {
  try {
    await check()
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause
    throw new ServiceError('invalid', words, { cause })
  }
}

function leafOf(body: Uint8Array): Promise<Hash> {
  return sha256(Uint8Array.of(0x00), body)
}

/**
 * Returns the signatures by the log of this name. @throws ServiceError `invalid` if there is none, or one
 * does not hold.
 */
async function logSignatures(
  note: Note,
  name: string,
  keys: readonly VerifierKey[],
): Promise<HeldSignature[]> {
  const named = keys.filter((key) => key.use === 'log' && key.name === name)
  const held = await heldSignatures(note, named)
  if (held.length > 0) return held
  const list = (all: readonly { name: string; keyId: string }[]) =>
    all.map((each) => `${each.name}+${each.keyId}`).join(', ')
  throw new ServiceError(
    'invalid',
    `no known key of ${quoted(name)} signed the checkpoint, but ${list(note.signatures)}: known are ${list(keys) || 'none'}, so give a key of that log, from elsewhere`,
  )
}

/** @throws ServiceError `invalid` if there are too few, or one does not hold. */
async function cosignaturesOf(note: Note, { witnesses, leastCosignatures }: Trust): Promise<HeldSignature[]> {
  const held = await heldSignatures(
    note,
    witnesses.filter(({ use }) => use === 'witness'),
  )
  // A witness under two names counts once.
  const signers = new Set(held.map(({ key }) => base64Of(key.publicBytes)))
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
  const members = parseCanonical(bytes, 'the statement')
  const wrong = Object.entries(MEMBERS).find(([name, fits]) => !fits(members[name]))
  if (!wrong) return members as unknown as Statement
  throw new ServiceError(
    'invalid',
    `the statement does not fit at ${JSON.stringify(wrong[0])}: ${quoted(JSON.stringify(members[wrong[0]]) ?? 'nothing')}`,
  )
}

/** The form of each member of a statement. */
const MEMBERS: Record<keyof Statement, (value: unknown) => boolean> = {
  agent: isTree,
  as_of: isText(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  environment: isText(/^(production|sandbox)$/),
  forecaster: isTree,
  forecasts: isTree,
  manifest_sha256: isText(/^[0-9a-f]{64}$/),
  methodology_version: isText(/^/),
  release: isCount,
  snapshot_sha256: (value) => value === null || isText(/^[0-9a-f]{64}$/)(value),
}

function isText(form: RegExp): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && form.test(value)
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0
}

function isTree(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === null
  const { root, size } = value as Record<string, unknown>
  return isText(/^[A-Za-z0-9+/]{43}=$/)(root) && isCount(size)
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
