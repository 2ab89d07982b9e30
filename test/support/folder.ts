// Temporary folders that are removed when the test or the suite ends.
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

/** Call it while a suite is being collected: inside a `beforeAll` it is too late for `afterAll`. */
export async function suiteFolder(): Promise<string> {
  const { path, remove } = await makeFolder()
  afterAll(remove)
  return path
}

/** For a `beforeAll` that returns its own clean-up. */
export async function makeFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'fvs-test-'))
  // What a failed test has left running may still write: the removal is tried again, so that no other test
  // fails with it.
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 10 }) }
}
