// A log with one body in a tree of one of its statements, and the proof of it, right or wrong in any part.
import type { Statement } from '../../../schemas/statement.ts'
import { base64Of } from '../../../pipeline/proof/base64.ts'
import { canonical, encoded } from '../../../pipeline/proof/canonical.ts'
import { parseCheckpoint, signedCheckpoint, withSignatures } from '../../../pipeline/proof/checkpoint.ts'
import { MerkleTree, leafHash } from '../../../pipeline/proof/merkle.ts'
import { type SigningKey, signingKeyOf } from '../../../pipeline/proof/note-keys.ts'
import { cosignText } from '../../../pipeline/proof/note-signatures.ts'
import { innerProofBytes, tlogProofText } from '../../../pipeline/proof/tlog-proof.ts'

export const ORIGIN = 'fvs.example/forecasts'
export const BATCH = '01a20020-4150-7589-9944-627481000007'
export const NOW = new Date('2026-11-22T12:00:00.000Z')
export const RELEASE = 4
export const AGENT = {
  agent_id: 'a',
  release: RELEASE,
  as_of: '2026-11-22T11:45:00.000Z',
  environment: 'production',
}
export const FORECASTER = { ...AGENT, user_id: 'u' }
export const FORECAST = { agent_id: 'a', forecast_id: 'f', probability: 0.5 }

export const [LOG, NEXT, STRANGER] = [1, 2, 3].map((seed) => keyOf(ORIGIN, 'log', seed)) as [
  SigningKey,
  SigningKey,
  SigningKey,
]
export const WITNESSES = [4, 5].map((seed) => keyOf(`witness.example/w${seed}`, 'witness', seed))

export interface WorldOptions {
  bytes?: Uint8Array
  tree?: 'agent' | 'forecaster' | 'forecasts'
  release?: number
  /** The entry that has the statement. */
  at?: number
  entries?: number
  leaves?: number
  origin?: string
  keys?: SigningKey[]
  witnesses?: SigningKey[]
  respell?: (statement: string) => string
}

/** A log with a body in a tree of one of its statements, and the proof of it. */
export function worldOf(body: object, options: WorldOptions = {}) {
  const own = 'forecast_id' in body ? 'forecasts' : 'user_id' in body ? 'forecaster' : 'agent'
  const {
    bytes = canonical(body),
    tree = own,
    release = RELEASE,
    at = release - 1,
    origin = ORIGIN,
  } = options
  const leaves = Array.from({ length: options.leaves ?? 5 }, (_, i) => leafHash(encoded(`leaf ${i}`)))
  const inner = new MerkleTree(leaves.with(leaves.length - 1, leafHash(bytes)))
  const facts: Statement = {
    agent: null,
    as_of: AGENT.as_of,
    environment: 'production',
    forecaster: null,
    forecasts: null,
    manifest_sha256: '0'.repeat(64),
    methodology_version: '2.0.0',
    release,
    snapshot_sha256: null,
    [tree]: { root: base64Of(inner.root), size: inner.size },
  }
  const text = Buffer.from(canonical(facts)).toString('utf8')
  const statement = encoded(options.respell?.(text) ?? text)
  const entries = Array.from({ length: options.entries ?? 6 }, (_, i) => leafHash(encoded(`entry ${i}`)))
  const log = new MerkleTree(entries.with(at, leafHash(statement)))
  const signed = signedCheckpoint({ origin, size: log.size, root: log.root }, options.keys ?? [LOG])
  const { note } = parseCheckpoint(signed)
  const cosignatures = (options.witnesses ?? []).map((key) => cosignText(note.text, key, NOW))
  const path = { index: leaves.length - 1, hashes: inner.inclusionPath(leaves.length - 1) }
  const proof = tlogProofText({
    extra: innerProofBytes({ ...path, statement }),
    index: at,
    hashes: log.inclusionPath(at),
    checkpoint: withSignatures(note, cosignatures),
  })
  return { bytes, proof }
}

export function keyOf(name: string, use: 'log' | 'witness', seed: number): SigningKey {
  return signingKeyOf(name, use, Buffer.alloc(32, seed))
}
