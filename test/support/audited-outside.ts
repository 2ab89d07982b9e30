// Audits from outside what a test serves.
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { type Outside, type OutsideReport, auditOutside } from '../../pipeline/audit/outside.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { testComponents } from './http/service.ts'
import { LOG_VKEY } from './worlds/written-log.ts'

/** As a machine does that has nothing yet, and waits for nobody. */
export async function auditedOutside(
  folder: string,
  from: string,
  asked: Partial<Outside> = {},
): Promise<OutsideReport> {
  const place = await mkdtemp(join(folder, 'outside-'))
  const components = await testComponents({ store: new MemoryStore(), folder: place })
  const context = { ...components, wait: () => Promise.resolve(), progress: () => undefined }
  return auditOutside(context, { from, vkeys: [LOG_VKEY], known: undefined, release: undefined, ...asked })
}
