// The temporary folders of this machine's processes. Each process has its own and removes those of dead ones.
import { readlinkSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { reasonOf } from '../../pipeline/store/disk.ts'
import { ServiceError } from '../../schemas/errors.ts'

/**
 * Makes a folder of this process alone. The caller removes it; if the process dies first, a later one does.
 *
 * @throws ServiceError `unavailable` if no folder can be made.
 */
export async function makeTemporaryFolder(purpose: 'work' | 'demo'): Promise<string> {
  const parent = tmpdir()
  try {
    await removeLeftovers(parent)
    return await mkdtemp(join(parent, `fvs-${purpose}-${machine()}-${process.pid}-`))
  } catch (cause) {
    throw new ServiceError(
      'unavailable',
      `the temporary folder ${parent} cannot be used (${reasonOf(cause)}); make it, or set TMPDIR to another`,
      { cause },
    )
  }
}

/** Names the scope of process ids, because containers that share a temporary folder each count their own. */
function machine(): string {
  let namespace = ''
  try {
    namespace = readlinkSync('/proc/self/ns/pid')
  } catch {
    // Only Linux has such namespaces.
  }
  return sha256Hex(`${hostname()} ${namespace}`).slice(0, 8)
}

async function removeLeftovers(parent: string): Promise<void> {
  const own = new RegExp(`^fvs-(?:work|demo)-${machine()}-(\\d+)-\\w+$`)
  for (const name of await readdir(parent)) {
    const pid = own.exec(name)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue
    // Ignore failures: the folder may belong to another user, or another process may be removing it too.
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Any other error means that the process is alive, but may not be signalled.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
