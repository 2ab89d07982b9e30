// The commands that the scheduler runs, and its messages about commands that fail or cannot be started.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Scheduler } from '../../../jobs/serve/scheduler.ts'
import { readManifest } from '../../../pipeline/release/read.ts'
import { FileStore } from '../../../pipeline/store/file.ts'
import { SIMULATION_PATH } from '../../../pipeline/store/paths.ts'
import { errorLog } from '../../support/http/error-log.ts'
import { testFolder } from '../../support/folder.ts'
import { recordBytes } from '../../../pipeline/store/records.ts'

const EACH_SECOND = '* * * * * *'

/** The sandbox of a store that the scheduled commands find through this process's environment variables. */
async function sandboxOfVariables(): Promise<FileStore> {
  const folder = await testFolder()
  vi.stubEnv('STORE_URL', join(folder, 'store'))
  vi.stubEnv('LOG_LEVEL', 'silent')
  onTestFinished(() => void vi.unstubAllEnvs())
  return await FileStore.begin(join(folder, 'store', 'sandbox'))
}

/** The first release that the scheduler makes of the sandbox. */
async function firstRelease(store: FileStore, logger: Logger) {
  const scheduler = new Scheduler('sandbox', EACH_SECOND, true, logger)
  await expect.poll(() => readManifest(store, 1)).toBeDefined()
  await scheduler.stop()
  return (await readManifest(store, 1))!
}

describe('the schedule of the sandbox', () => {
  test(
    'takes a step of the simulation, and then makes a release with its rows',
    { tags: ['slow'] },
    async () => {
      const store = await sandboxOfVariables()
      const { logger, lines } = errorLog()
      const started_at = new Date().toISOString()
      const record = { seed: 1, started_at, round_ms: 300_000, questions_per_round: 1 }
      await store.put(SIMULATION_PATH, recordBytes(SIMULATION_PATH, record))
      const { tables, environment } = await firstRelease(store, logger)
      expect({ environment, questions: tables['questions'] }).toEqual({
        environment: 'sandbox',
        questions: 1,
      })
      expect(lines).toEqual([])
    },
  )

  test('makes a release even if the step fails, and logs the error', { tags: ['slow'] }, async () => {
    const store = await sandboxOfVariables()
    const { logger, lines } = errorLog()
    await store.put(SIMULATION_PATH, Buffer.from('{}'))
    expect(await firstRelease(store, logger)).toMatchObject({ release: 1, environment: 'sandbox' })
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 50,
      environment: 'sandbox',
      code: 1,
      msg: 'the scheduled step of the simulation failed; the next run tries again',
    })
  })
})

test('a command that cannot be started is an error in the log, and delays neither the next command nor the stop', async () => {
  const { execPath } = process
  process.execPath = '/no/such/program'
  onTestFinished(() => {
    process.execPath = execPath
  })
  const { logger, lines } = errorLog()
  const scheduler = new Scheduler('sandbox', EACH_SECOND, true, logger)
  await expect.poll(() => lines.length).toBeGreaterThanOrEqual(2)
  for (const [index, name] of ['step of the simulation', 'release'].entries()) {
    expect(JSON.parse(lines[index]!)).toMatchObject({
      level: 50,
      environment: 'sandbox',
      err: { code: 'ENOENT' },
      msg: `the scheduled ${name} did not start; the next run tries again`,
    })
  }
  await scheduler.stop()
})

test(
  'a run that is still under way when the next is due is said in the log, in its form',
  { tags: ['slow'] },
  async () => {
    const folder = await testFolder()
    const slow = join(folder, 'slow')
    await writeFile(slow, '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 })
    const { execPath } = process
    process.execPath = slow
    onTestFinished(() => {
      process.execPath = execPath
    })
    const { logger, lines } = errorLog('debug')
    const scheduler = new Scheduler('production', EACH_SECOND, true, logger)
    await expect.poll(() => lines.length).toBeGreaterThanOrEqual(1)
    await scheduler.stop()
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 40,
      environment: 'production',
      msg: expect.stringMatching(/^the schedule: task still running/) as string,
    })
  },
)

test(
  'releases are made while domains whose servers are silent are looked at',
  { tags: ['slow'] },
  async () => {
    const folder = await testFolder()
    const program = join(folder, 'program')
    const made = join(folder, 'made')
    await writeFile(
      program,
      `#!/bin/sh\ncase "$*" in *prove*) exec sleep 600;; *release*) echo made >> '${made}';; esac\n`,
      { mode: 0o755 },
    )
    const { execPath } = process
    process.execPath = program
    onTestFinished(() => {
      process.execPath = execPath
    })
    const { logger, lines } = errorLog()
    const scheduler = new Scheduler('production', EACH_SECOND, true, logger)
    const releases = async () => (await readFile(made, 'utf8').catch(() => '')).split('\n').length - 1
    await expect.poll(releases).toBeGreaterThanOrEqual(3)
    await scheduler.stop()
    expect(lines).toEqual([])
  },
)

test('the next run is always the one after now, also when the clock is set back', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { logger } = errorLog()
  const scheduler = new Scheduler('production', '0 * * * *', false, logger)
  const nextAt = (now: string) => {
    vi.setSystemTime(now)
    return scheduler.nextRun()?.toISOString()
  }
  expect(nextAt('2026-06-01T10:20:00Z')).toBe('2026-06-01T11:00:00.000Z')
  expect(nextAt('2026-06-01T10:59:59.999Z')).toBe('2026-06-01T11:00:00.000Z')
  expect(nextAt('2026-06-01T11:00:00Z')).toBe('2026-06-01T12:00:00.000Z')
  expect(nextAt('2026-06-01T09:30:00Z')).toBe('2026-06-01T10:00:00.000Z')
  await scheduler.stop()
})
