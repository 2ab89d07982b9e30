// The file in which a reader of a log keeps what it has seen until its next call: `fvs witness` and
// `fvs monitor` write it, and `fvs audit --known` reads it. It is replaced as a whole or not at all.
import { readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { encoded } from '../../pipeline/proof/canonical.ts'
import type { SignedCheckpoint } from '../../pipeline/proof/checkpoint.ts'
import { noteText } from '../../pipeline/proof/note.ts'
import type { VerifierKey } from '../../pipeline/proof/note-keys.ts'
import { hasCode, writeStaged } from '../../pipeline/store/disk.ts'
import { type ShownRecord, signedCheckpoint } from '../../pipeline/transparency/log-reader.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { fileBytes, jsonOf } from '../command-line/read-place.ts'

/** The members of a verification of any version that a monitor compares. */
const facts = z.looseObject({
  release: z.int().min(1),
  as_of: z.string(),
  certification: z.string().optional(),
  badge: z.string().optional(),
  retired_at: z.string().nullish(),
})
export type Facts = z.infer<typeof facts>

/** Returns undefined for what is no verification. */
export function factsOf(record: string): Facts | undefined {
  return facts.safeParse(jsonOf(encoded(record))).data
}

/** The state of a reader of a log. */
export interface KnownLog {
  /** The last checkpoint. */
  head: SignedCheckpoint
  /** The last release whose corrections were read; undefined before the first. */
  correctionsTo?: number | undefined
  /** The last record of each entity, by `agent:UUID` or `forecaster:UUID`; null without a record. */
  entities?: Readonly<Record<string, ShownRecord | null>> | undefined
}

const written = z.strictObject({
  checkpoint: z.string(),
  corrections_to: z.int().min(0).optional(),
  entities: z
    .record(z.string(), z.strictObject({ record: z.string(), proof: z.string() }).nullable())
    .optional(),
})

/**
 * Reads a state, or a checkpoint alone, as anyone may have kept one.
 *
 * @throws ServiceError `invalid` for anything else, and for a checkpoint that none of these keys has signed.
 */
export async function parseState(
  bytes: Uint8Array,
  file: string,
  keys: readonly VerifierKey[],
): Promise<KnownLog> {
  const content = jsonOf(bytes)
  if (content === undefined) return { head: await signedCheckpoint(bytes, file, keys) }
  const { data } = written.safeParse(content)
  const records = Object.values(data?.entities ?? {})
  if (!data || !records.every((kept) => kept === null || factsOf(kept.record)))
    throw new ServiceError('invalid', `${file} is no state of fvs witness or fvs monitor`)
  const { checkpoint, corrections_to: correctionsTo, entities } = data
  const head = await signedCheckpoint(encoded(checkpoint), file, keys)
  return { head, correctionsTo, entities }
}

/**
 * Reads a file as `parseState` does, once its keys are known. Returns the function that returns its
 * checkpoint.
 */
export async function knownCheckpoint(
  file: string,
): Promise<(keys: readonly VerifierKey[]) => Promise<SignedCheckpoint>> {
  const bytes = await fileBytes(file)
  return async (keys) => (await parseState(bytes, file, keys)).head
}

export function stateText({ head, correctionsTo, entities }: KnownLog): string {
  const state: z.infer<typeof written> = {
    checkpoint: noteText(head.note),
    corrections_to: correctionsTo,
    entities,
  }
  return `${JSON.stringify(state, null, 2)}\n`
}

/**
 * Returns undefined if there is none yet.
 *
 * @throws ServiceError `invalid` for a file that cannot be read.
 */
export async function readState(file: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(file)
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return undefined
    throw new ServiceError('invalid', `${file} cannot be read`, { cause })
  }
}

/**
 * Writes a new file in the same folder and moves it into place.
 *
 * @throws ServiceError `conflict` if another call has replaced it since it was read, `unavailable` if it
 *   cannot be written.
 */
export async function replaceState(
  file: string,
  text: string,
  before: Uint8Array | undefined,
): Promise<void> {
  try {
    await writeStaged(dirname(file), file, encoded(text), async (staged, location) => {
      const present = await readState(location)
      if (!areSame(present, before)) {
        throw new ServiceError('conflict', `another call has replaced ${file}; nothing was kept: call again`)
      }
      await rename(staged, location)
    })
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    throw new ServiceError('unavailable', `${file} cannot be written: ${(cause as Error).message}`, { cause })
  }
}

function areSame(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one === undefined || other === undefined ? one === other : Buffer.compare(one, other) === 0
}
