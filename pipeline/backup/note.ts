// The note in a copy: a backup, or a store whose restore has not ended. No service writes to such a store.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { instant } from '../../schemas/values.ts'
import { COPY_PATH } from '../store/paths.ts'
import { recordAt } from '../store/records.ts'
import type { Store } from '../store/store.ts'

const copyNote = z.strictObject({
  kind: z.enum(['backup', 'restore']),
  /** The URL of the original store, as given. */
  from: z.string(),
  /**
   * The instant at which the last whole copy began. The copy has everything from before. Null before the
   * first.
   */
  as_of: instant.nullable(),
})
export type CopyNote = z.infer<typeof copyNote>

/** Returns undefined for a store that is no copy. */
export function readCopyNote(store: Store): Promise<CopyNote | undefined> {
  return recordAt(store, COPY_PATH, copyNote).get()
}

export function writeCopyNote(store: Store, note: CopyNote): Promise<void> {
  return recordAt(store, COPY_PATH, copyNote).replace(note)
}

/** @throws ServiceError `conflict` for a store that is a copy. */
export async function assertNoCopy(store: Store): Promise<void> {
  const note = await readCopyNote(store)
  if (!note) return
  throw new ServiceError(
    'conflict',
    note.kind === 'backup'
      ? `${store.url} is a backup of ${note.from}, and nothing but fvs backup writes to it; make a store of it with fvs restore`
      : `${store.url} is not restored to the end; run fvs restore ${note.from} again`,
  )
}
