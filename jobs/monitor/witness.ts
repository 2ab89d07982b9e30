// `fvs witness`: looks at the log of a service once, and keeps what it has shown in a file, so that the log
// cannot show another history later.
import { decoded } from '../../pipeline/proof/canonical.ts'
import { type SignedCheckpoint, parseCheckpoint, withSignatures } from '../../pipeline/proof/checkpoint.ts'
import { base64Of } from '../../pipeline/proof/base64.ts'
import { type Note, type NoteSignature, noteText, signatureLine } from '../../pipeline/proof/note.ts'
import type { SigningKey } from '../../pipeline/proof/note-keys.ts'
import { cosignText, heldSignatures } from '../../pipeline/proof/note-signatures.ts'
import { type Continuation, continuationOf } from '../../pipeline/transparency/continuation.ts'
import { LogReader } from '../../pipeline/transparency/log-reader.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { printable } from '../../pipeline/printable.ts'
import type { Report } from '../command-line/output.ts'
import { parseState, readState, replaceState, stateText } from './state-file.ts'
import { witnessKeyIn } from './witness-key.ts'
import { LOG_KEYS, SERVICE_URL } from '../command-line/arguments.ts'
import { type GlobalOptions, JSON_OPTION, finish, program } from '../command-line/program.ts'

export function addWitness(): void {
  program
    .command('witness')
    .description('Check that a public log continues what it has shown before, and keep what it shows.')
    .argument(...SERVICE_URL)
    .requiredOption(...LOG_KEYS)
    .requiredOption('--state <file>', 'where the last checkpoint is kept; the first call makes it')
    .option('--key-file <file>', 'the key of a witness: then each checkpoint is cosigned')
    .option(...JSON_OPTION)
    .action(async (url: string, options: WitnessOptions & Pick<GlobalOptions, 'json'>) => {
      finish(await runWitness(url, options, new Date()), options)
    })
}

export interface WitnessOptions {
  /** The keys of the log that the reader knows: several while one is replaced. */
  vkey: readonly string[]
  /** The file with the last checkpoint. */
  state: string
  /** A file with the key of a witness. */
  keyFile?: string | undefined
}

/**
 * @throws ServiceError `invalid` for wrong options, keys and files, `unavailable` for a log that does not
 *   answer, `corrupt` for one whose answers show nothing, and `conflict` with both notes for one that does
 *   not continue what is kept.
 */
export async function runWitness(url: string, options: WitnessOptions, now: Date): Promise<Report> {
  const { state: file } = options
  const log = new LogReader(url, options.vkey)
  const key = options.keyFile === undefined ? undefined : await witnessKeyIn(options.keyFile)
  const before = await readState(file)
  const seen = before && (await parseState(before, file, log.keys))
  const known = seen?.head
  const found = await log.lastCheckpoint()
  const continuation = await judged(url, known, found, () =>
    continuationOf(known?.checkpoint, found.checkpoint, log.readTile),
  )
  const isKnown = continuation === 'same'
  const kept = isKnown && known ? known : found
  const { note, line } = key
    ? await cosigned(isKnown ? kept.note : withoutOwn(kept.note, key), key, now)
    : { note: noteText(kept.note), line: undefined }
  // Throws if the note is too long to be read again.
  const text = stateText({ ...seen, head: parseCheckpoint(note) })
  if (!before || decoded(before) !== text) await replaceState(file, text, before)
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
async function cosigned(note: Note, key: SigningKey, now: Date): Promise<{ note: string; line: string }> {
  if ((await heldSignatures(note, [key.verifier])).length > 0) {
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
