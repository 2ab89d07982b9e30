// Audits from outside what a test serves.
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { type Outside, type OutsideReport, auditOutside } from '../../pipeline/audit/outside.ts'
import { logKeys, signedCheckpoint } from '../../pipeline/transparency/log-reader.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { testComponents } from './http/service.ts'
import { LOG_VKEY } from './worlds/written-log.ts'

interface Asked extends Partial<Pick<Outside, 'release'>> {
  vkeys?: readonly string[]
  /** The note of a checkpoint that was kept. */
  known?: Uint8Array
}

/** As a machine does that has nothing yet, and waits for nobody. */
export async function auditedOutside(
  folder: string,
  from: string,
  { vkeys = [LOG_VKEY], known, ...asked }: Asked = {},
): Promise<OutsideReport> {
  const place = await mkdtemp(join(folder, 'outside-'))
  const components = await testComponents({ store: new MemoryStore(), folder: place })
  const context = { ...components, wait: () => Promise.resolve(), progress: () => undefined }
  const keys = logKeys(vkeys)
  const head = known && (await signedCheckpoint(known, 'kept', keys))
  return auditOutside(context, { from, keys, known: head, release: undefined, ...asked })
}
