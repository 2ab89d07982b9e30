// The real process, cut off in the middle of a thousand submissions: each one answered with 200 is kept,
// once.
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { auditRelease } from '../../../pipeline/audit/release.ts'
import { suiteFolder, testFolder } from '../../support/folder.ts'
import { fvsServe } from '../../support/process.ts'
import { SECRET, release, testComponents } from '../../support/http/service.ts'
import { expectKept, submitMany } from '../../support/http/submissions.ts'
import { importWorld } from '../../support/worlds/world.ts'

const SUBMISSIONS = 1000
const imported = await suiteFolder()
beforeAll(async () => {
  await importWorld(await testComponents({ folder: imported }))
})

async function freshWorld(): Promise<string> {
  const folder = await testFolder()
  await cp(join(imported, 'store'), join(folder, 'store'), { recursive: true })
  return folder
}

const store = (folder: string) => ({ folder, env: { STORE_URL: join(folder, 'store') } })

describe('kill -9', () => {
  test.for([1, 400, 800])('after %d acknowledged forecasts loses none of them', async (killAfter) => {
    const folder = await freshWorld()
    const service = await fvsServe(store(folder), '--no-scheduler')
    const outcome = await submitMany(service.url, SUBMISSIONS, killAfter, () => {
      service.kill('SIGKILL')
    })
    expect((await service.finished).signal).toBe('SIGKILL')
    expect(outcome.acknowledged.size).toBeGreaterThanOrEqual(killAfter)
    // The next release takes in the rows that were left.
    const components = await testComponents({ folder })
    expect(await release(components)).toMatchObject({ made: true, release: 1 })
    const stored = await expectKept(folder, outcome)
    console.info(
      `killed after ${killAfter}: ${outcome.acknowledged.size} acknowledged, ${outcome.unanswered} not, ${stored} stored`,
    )
    using database = await components.openDatabase()
    const audit = await auditRelease({ ...components, database, secrets: [SECRET] }, 1)
    expect(audit.faults).toEqual([])
  })
})

describe.for(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  test('in the middle of submissions answers those under way, keeps them and exits with 0', async () => {
    const folder = await freshWorld()
    const env = { ...store(folder).env, SHUTDOWN_TIMEOUT_MS: '600000' }
    const service = await fvsServe({ folder, env }, '--no-scheduler')
    const outcome = await submitMany(service.url, 500, 200, () => {
      service.kill(signal)
    })
    const { code, stdout, stderr } = await service.finished
    expect(code, stderr).toBe(0)
    expect(stdout).toBe('')
    expect(stderr).toContain('"msg":"stopped"')
    await expect(fetch(service.url)).rejects.toThrow('fetch failed')
    await release(await testComponents({ folder }))
    const stored = await expectKept(folder, outcome)
    // No submission that was refused or unanswered was recorded.
    expect(stored).toBe(outcome.acknowledged.size)
    console.info(`${signal} after 200: ${outcome.acknowledged.size} acknowledged, ${outcome.unanswered} not`)
  })
})
