// Asks witnesses to cosign a checkpoint (https://c2sp.org/tlog-witness), and keeps and reads their
// cosignatures.
import { ServiceError } from '../../schemas/errors.ts'
import { base64Of } from '../proof/base64.ts'
import { decoded, encoded } from '../proof/canonical.ts'
import { type SignedCheckpoint, parseCount } from '../proof/checkpoint.ts'
import { type NoteSignature, noteText, parseSignatureLine, signatureLine } from '../proof/note.ts'
import type { VerifierKey } from '../proof/note-keys.ts'
import { heldSignatures } from '../proof/note-signatures.ts'
import { quoted } from '../proof/quoted.ts'
import { type ReadTile, consistencyFromTiles } from '../proof/tiles.ts'
import { logCosignaturePath, logCosignaturesPrefix } from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import { type BoundedAnswer, type Fetch, boundedFetch } from '../bounded-fetch.ts'
import { readCheckpoint, tileReader } from './log-files.ts'

export interface Witness {
  key: VerifierKey
  /** Without a slash at its end. */
  url: string
}

export interface WitnessContext {
  store: Store
  witnesses: readonly Witness[]
  log: (event: string, fields: object) => void
  fetch?: Fetch
  /** The limit for each witness, over all requests to it; 5 s if left out. */
  timeoutMs?: number
}

const TIMEOUT_MS = 5_000
const MOST_BYTES = 64 * 1024
const SIZE_MEDIA_TYPE = 'text/x.tlog.size'

/**
 * Asks every witness, all at the same time and each once, to cosign the checkpoint of this size. A failure is
 * logged and no more: it fails nothing else, and delays by no more than the time limit and a write.
 */
export async function askWitnesses(context: WitnessContext, size: number): Promise<void> {
  const { store, witnesses, log } = context
  await Promise.all(
    witnesses.map(async ({ key, url }) => {
      const fields = { witness: key.name, size }
      try {
        const signed = await readCheckpoint(store, size)
        const line = await cosignatureBy({ key, url }, signed, tileReader(store), context)
        await store.putIfAbsent(logCosignaturePath(size, key.keyId), encoded(line))
        log('a witness has cosigned the log', fields)
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        log('a witness has not cosigned the log', { ...fields, reason })
      }
    }),
  )
}

/** @throws ServiceError for any answer but a cosignature by this witness over this checkpoint. */
async function cosignatureBy(
  witness: Witness,
  { checkpoint: { size }, note }: SignedCheckpoint,
  read: ReadTile,
  { fetch = globalThis.fetch, timeoutMs = TIMEOUT_MS }: Pick<WitnessContext, 'fetch' | 'timeoutMs'>,
): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs)
  const ask = async (oldSize: number): Promise<BoundedAnswer> => {
    const path = oldSize === 0 ? [] : await consistencyFromTiles(oldSize, size, read)
    const proof = path.map((hash) => `${base64Of(hash)}\n`).join('')
    const body = `old ${oldSize}\n${proof}\n${noteText(note)}`
    const url = `${witness.url}/add-checkpoint`
    return boundedFetch(url, { fetch, method: 'POST', body, signal, mostBytes: MOST_BYTES })
  }
  // The service does not store the size that a witness knows: the witness tells it, even if somebody else has
  // told the witness of the log.
  const first = await ask(0)
  const answer = first.status === 409 ? await ask(knownSize(first, size)) : first
  if (answer.status !== 200) throw refused(answer)
  return signatureLine(await heldCosignature(decoded(answer.bytes), note.text, witness.key))
}

/** Returns the size that a witness cosigned last. */
function knownSize({ mediaType, bytes }: BoundedAnswer, size: number): number {
  if (mediaType !== SIZE_MEDIA_TYPE) {
    throw new ServiceError('invalid', `it answered 409 without a size: ${quoted(decoded(bytes))}`)
  }
  const known = parseCount(decoded(bytes).replace(/\n$/, ''))
  if (known > 0 && known <= size) return known
  throw new ServiceError('conflict', `it knows ${known} entries of this log, and the checkpoint has ${size}`)
}

async function heldCosignature(lines: string, text: string, key: VerifierKey): Promise<NoteSignature> {
  const signatures = lines.replace(/\n$/, '').split('\n').map(parseSignatureLine)
  for (const signature of signatures) {
    const held = await heldSignatures({ text, signatures: [signature] }, [key])
    if (held.length > 0) return signature
  }
  throw new ServiceError('invalid', `it answered without a signature by ${key.name}+${key.keyId}`)
}

function refused({ status, bytes }: BoundedAnswer): ServiceError {
  // A witness gives its reason in words, which may be anything.
  return new ServiceError('invalid', `it answered ${status}: ${quoted(Buffer.from(bytes).toString())}`)
}

/** More witnesses than anyone has, and few enough for a note. */
const MOST_COSIGNATURES = 32
const COSIGNATURE_BYTES = 8 + 64
const LONGEST_LINE_BYTES = 1024

/**
 * Returns the stored cosignatures of a checkpoint, in the order of their key ids. It checks those by known
 * keys, and takes others as they are. It leaves out those that do not hold, are no line of a cosignature or
 * bear the log's own name.
 */
export async function readCosignatures(
  store: Store,
  { checkpoint: { origin, size }, note }: SignedCheckpoint,
  known: readonly VerifierKey[],
): Promise<NoteSignature[]> {
  const found: NoteSignature[] = []
  for await (const { path, sizeBytes } of store.list(logCosignaturesPrefix(size))) {
    if (found.length === MOST_COSIGNATURES) break
    if (sizeBytes > LONGEST_LINE_BYTES) continue
    const bytes = await store.get(path)
    const signature = bytes && cosignatureIn(bytes)
    if (!signature || path !== logCosignaturePath(size, signature.keyId) || signature.name === origin)
      continue
    if (await isDamaged(note.text, signature, known)) continue
    found.push(signature)
  }
  return found
}

function cosignatureIn(bytes: Uint8Array): NoteSignature | undefined {
  try {
    const line = decoded(bytes)
    if (!line.endsWith('\n')) return undefined
    const signature = parseSignatureLine(line.slice(0, -1))
    return signature.bytes.byteLength === COSIGNATURE_BYTES ? signature : undefined
  } catch {
    return undefined
  }
}

/** Whether a signature names a known key and does not hold. */
async function isDamaged(
  text: string,
  signature: NoteSignature,
  known: readonly VerifierKey[],
): Promise<boolean> {
  try {
    await heldSignatures({ text, signatures: [signature] }, known)
    return false
  } catch {
    return true
  }
}
