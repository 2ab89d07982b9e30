// `fvs witness`: looks at the log of a service once, and keeps what it has shown in a file, so that the log
// cannot show another history later.
import { decoded } from '../pipeline/proof/canonical.ts'
import { type SignedCheckpoint, parseCheckpoint, withSignatures } from '../pipeline/proof/checkpoint.ts'
import { base64Of } from '../pipeline/proof/base64.ts'
import { type Note, type NoteSignature, noteText, signatureLine } from '../pipeline/proof/note.ts'
import { type SigningKey, type VerifierKey, parseVerifierKey } from '../pipeline/proof/note-keys.ts'
import { cosignText, heldSignatures } from '../pipeline/proof/note-signatures.ts'
import { quoted } from '../pipeline/proof/quoted.ts'
import { boundedFetch } from '../pipeline/bounded-fetch.ts'
import { type Continuation, continuationOf } from '../pipeline/transparency/continuation.ts'
import { tileReader } from '../pipeline/transparency/log-files.ts'
import { ServiceError } from '../schemas/errors.ts'
import { printable } from '../pipeline/printable.ts'
import type { Report } from './output.ts'
import { readState, replaceState, witnessKeyIn } from './witness-files.ts'

export interface WitnessOptions {
  /** The keys of the log that the reader knows: several while one is replaced. */
  vkey: readonly string[]
  /** The file with the last checkpoint. */
  state: string
  /** A file with the key of a witness. */
  keyFile?: string | undefined
}

/** The longest note; a tile has 8 KiB. */
const MOST_BYTES = 64 * 1024

/**
 * @throws ServiceError `invalid` for wrong options, keys and files, `unavailable` for a log that does not
 *   answer, `corrupt` for one whose answers show nothing, and `conflict` with both notes for one that does
 *   not continue what is kept.
 */
export async function runWitness(url: string, options: WitnessOptions, now: Date): Promise<Report> {
  const { state: file } = options
  const keys = logKeys(options.vkey)
  const key = options.keyFile === undefined ? undefined : await witnessKeyIn(options.keyFile)
  const get = getterOf(url)
  const before = await readState(file)
  const known = before && signedCheckpoint(before, file, keys)
  const bytes = await get('log/checkpoint')
  if (!bytes) throw new ServiceError('unavailable', `${url} has no public log, or one without an entry`)
  const found = signedCheckpoint(bytes, `${url}/log/checkpoint`, keys)
  const continuation = await judged(url, known, found, () =>
    continuationOf(known?.checkpoint, found.checkpoint, tileReader({ get })),
  )
  const isKnown = continuation === 'same'
  const kept = isKnown && known ? known : found
  const { note, line } = key
    ? cosigned(isKnown ? kept.note : withoutOwn(kept.note, key), key, now)
    : { note: noteText(kept.note), line: undefined }
  if (before === undefined || decoded(before) !== note) {
    // Throws if the note is too long to be read again.
    parseCheckpoint(note)
    await replaceState(file, note, before)
  }
  return reportOf(kept, known, continuation, line)
}

function reportOf(
  { checkpoint: { origin, size, root } }: SignedCheckpoint,
  known: SignedCheckpoint | undefined,
  continuation: Continuation,
  line: string | undefined,
): Report {
  const how = {
    first: 'the first that is kept, so that they were taken as they are',
    same: 'as before',
    grown: `which continue the ${known?.checkpoint.size} from before`,
  }[continuation]
  const words = `${printable(origin)} has ${size} entries, ${how}`
  const json = {
    ok: true,
    origin,
    size,
    root: base64Of(root),
    continuation,
    known_size: known?.checkpoint.size ?? null,
    cosignature: line?.trimEnd() ?? null,
  }
  return {
    ok: true,
    json,
    ...(line === undefined ? { text: words } : { text: line.trimEnd(), aside: words }),
  }
}

/** Adds both notes to an error that speaks against the log, because they are the evidence. */
async function judged<T>(
  url: string,
  known: SignedCheckpoint | undefined,
  found: SignedCheckpoint,
  judge: () => Promise<T>,
): Promise<T> {
  try {
    return await judge()
  } catch (cause) {
    if (!(cause instanceof ServiceError) || !known || cause.kind === 'unavailable') throw cause
    const [before, after] = [known, found].map(({ note }) => noteText(note))
    const message = `${url}: ${cause.message}\n\nkept:\n${before}\nfound:\n${after}`
    throw new ServiceError(cause.kind, message, { cause })
  }
}

/** Returns the note with a cosignature by this key, and makes the cosignature unless the note has it. */
function cosigned(note: Note, key: SigningKey, now: Date): { note: string; line: string } {
  if (heldSignatures(note, [key.verifier]).length > 0) {
    const own = note.signatures.find((signature) => isBy(signature, key))!
    return { note: noteText(note), line: signatureLine(own) }
  }
  const own = cosignText(note.text, key, now)
  return { note: withSignatures(note, [own]), line: signatureLine(own) }
}

/** Removes signatures by this key from a log's note, so that a foreign line does not pass for our own. */
function withoutOwn(note: Note, key: SigningKey): Note {
  return { ...note, signatures: note.signatures.filter((signature) => !isBy(signature, key)) }
}

function isBy({ name, keyId }: NoteSignature, { verifier }: SigningKey): boolean {
  return name === verifier.name && keyId === verifier.keyId
}

/** @throws ServiceError `invalid` for a note of another log, and for one that no known key has signed. */
function signedCheckpoint(bytes: Uint8Array, place: string, keys: readonly VerifierKey[]): SignedCheckpoint {
  try {
    const signed = parseCheckpoint(decoded(bytes))
    const { origin, size } = signed.checkpoint
    const { name } = keys[0]!
    if (origin !== name)
      throw new ServiceError('invalid', `this is the log ${quoted(origin)}, not ${quoted(name)}`)
    if (size === 0) throw new ServiceError('invalid', 'a checkpoint without entries shows nothing')
    if (heldSignatures(signed.note, keys).length > 0) return signed
    throw new ServiceError('invalid', 'no key that was given has signed it')
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause
    throw new ServiceError('invalid', `${place}: ${cause.message}`, { cause })
  }
}

function logKeys(vkeys: readonly string[]): VerifierKey[] {
  const keys = vkeys.map(parseVerifierKey)
  if (keys.some(({ use }) => use !== 'log')) {
    throw new ServiceError('invalid', 'a --vkey is that of a witness; give the key of the log')
  }
  if (new Set(keys.map(({ name }) => name)).size === 1) return keys
  throw new ServiceError('invalid', 'the keys of one log have one name, and those given have several')
}

/** Returns a function that reads a path under an address, or resolves to undefined if nothing is there. */
function getterOf(url: string): (path: string) => Promise<Uint8Array | undefined> {
  if (!/^https?:\/\/[^?#]+$/.test(url)) {
    throw new ServiceError('invalid', `the address of a service is http[s]://host, not ${quoted(url)}`)
  }
  const base = url.replace(/\/+$/, '')
  return async (path) => {
    const { status, bytes } = await boundedFetch(`${base}/${path}`, { mostBytes: MOST_BYTES })
    if (status === 404) return undefined
    if (status === 200) return bytes
    throw new ServiceError('unavailable', `${base}/${path} answered ${status}`)
  }
}
