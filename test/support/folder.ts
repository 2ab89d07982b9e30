// A folder of its own for a test, gone when the test or the suite that asked for it ends.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

/** Call it inside a test. */
export async function testFolder(): Promise<string> {
  const { path, remove } = await makeFolder()
  onTestFinished(remove)
  return path
}

/** Call it at the top level of a suite: inside a `beforeAll` it would be too late to register an `afterAll`. */
export async function suiteFolder(): Promise<string> {
  const { path, remove } = await makeFolder()
  afterAll(remove)
  return path
}

/** For a `beforeAll` that returns its own clean-up. */
export async function makeFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'fvs-test-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
