// A folder for what the files of one test run share, gone when the run ends.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    runFolder: string
  }
}

export default async function makeRunFolder(project: TestProject): Promise<() => Promise<void>> {
  const path = await mkdtemp(join(tmpdir(), 'fvs-run-'))
  project.provide('runFolder', path)
  return () => rm(path, { recursive: true, force: true })
}
