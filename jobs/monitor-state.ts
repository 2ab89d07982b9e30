// The state of `fvs monitor`: the last checkpoint, and each entity's last record with its proof.
import { z } from 'zod'
import { encoded } from '../pipeline/proof/canonical.ts'
import type { SignedCheckpoint } from '../pipeline/proof/checkpoint.ts'
import { noteText } from '../pipeline/proof/note.ts'
import type { VerifierKey } from '../pipeline/proof/note-keys.ts'
import type { ShownRecord } from '../pipeline/transparency/proven.ts'
import { signedCheckpoint } from '../pipeline/transparency/remote-log.ts'
import { ServiceError } from '../schemas/errors.ts'
import { jsonOf } from './read-place.ts'

export interface MonitorState {
  head: SignedCheckpoint
  /** The last release whose corrections were read. */
  correctionsTo: number
  /** By `agent:UUID` or `forecaster:UUID`; null without a record. */
  entities: Readonly<Record<string, ShownRecord | null>>
}

const written = z.strictObject({
  checkpoint: z.string(),
  corrections_to: z.int().min(0),
  entities: z.record(z.string(), z.strictObject({ record: z.string(), proof: z.string() }).nullable()),
})

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

/** @throws ServiceError `invalid` for anything but a state of the log with these keys. */
export function parseMonitorState(
  bytes: Uint8Array,
  file: string,
  keys: readonly VerifierKey[],
): MonitorState {
  const { checkpoint, corrections_to, entities } = parsed(bytes, file)
  return { head: signedCheckpoint(encoded(checkpoint), file, keys), correctionsTo: corrections_to, entities }
}

function parsed(bytes: Uint8Array, file: string): z.infer<typeof written> {
  const { data } = written.safeParse(jsonOf(bytes))
  const records = Object.values(data?.entities ?? {})
  if (data && records.every((kept) => kept === null || factsOf(kept.record))) return data
  throw new ServiceError('invalid', `${file} is no state of fvs monitor`)
}

export function monitorStateText({ head, correctionsTo, entities }: MonitorState): string {
  const state: z.infer<typeof written> = {
    checkpoint: noteText(head.note),
    corrections_to: correctionsTo,
    entities,
  }
  return `${JSON.stringify(state, null, 2)}\n`
}
