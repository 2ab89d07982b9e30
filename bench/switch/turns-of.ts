// The service in a process of its own that notes the long turns of its event loop.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from '../process.ts'

export interface LoopTurn {
  /** When it ended, in milliseconds since 1970. */
  atMs: number
  cpuMs: number
}

/** Starts the service, has it asked, and resolves to its long turns once it has ended. */
export async function turnsOf(
  store: string,
  settings: Record<string, string>,
  asked: (url: string) => Promise<void>,
): Promise<LoopTurn[]> {
  const folder = await mkdtemp(join(tmpdir(), 'fvs-bench-switch-'))
  try {
    const path = join(folder, 'turns.json')
    const noted = new URL('loop-turns.ts', import.meta.url).href
    {
      const variables = { ...settings, NODE_OPTIONS: `--import ${noted}`, LOOP_TURNS: path }
      await using service = await startService(store, variables)
      await asked(service.url)
    }
    return JSON.parse(await readFile(path, 'utf8')) as LoopTurn[]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
