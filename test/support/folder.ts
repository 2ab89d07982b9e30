// A folder of its own for a test, gone when the test or the suite that asked for it ends.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

/** To be called inside a test. */
export async function testFolder(): Promise<string> {
  const { path, remove } = await makeFolder()
  onTestFinished(remove)
  return path
}

/** To be called while a suite is being collected: a `beforeAll` is too late to say what happens after all. */
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
