// The suites of test/suites.ts as projects, one of which `npm test` runs.
import { defineConfig } from 'vitest/config'
import { EXHAUSTIVE, OUTSIDE, SYSTEM, UNIT } from './test/suites.ts'

/** Limits end what hangs; no test decides by time. */
const HANG_MS = 5 * 60_000

/** No module holds a state, and a worker that loads them once saves a third of a small file's time. */
const ISOLATE = false

// The file that CI counts its tests from.
const report = process.env['TEST_REPORT']

const project = (name: string, include: string[], options: object = {}) => ({
  extends: true as const,
  test: { name, include, ...options },
})

export default defineConfig({
  test: {
    pool: 'forks',
    // One more than the cores of a small machine: many tests wait for processes and disks.
    maxWorkers: 3,
    passWithNoTests: false,
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    expect: { poll: { interval: 5, timeout: HANG_MS / 2 } },
    globalSetup: 'test/support/run-folder.ts',
    reporters: ['default', './test/support/slowest-files.ts', ...(report === undefined ? [] : ['json'])],
    ...(report === undefined ? {} : { outputFile: { json: report } }),
    tags: [
      {
        name: 'slow',
        description: 'takes more than a quarter of a second of processor time: not in `npm test`',
      },
    ],
    projects: [
      project('unit', UNIT, { tagsFilter: ['!slow'], isolate: ISOLATE }),
      project('exhaustive', EXHAUSTIVE, { isolate: ISOLATE, env: { ALL_RUNS: 'true' } }),
      project('system', SYSTEM),
      ...Object.entries(OUTSIDE).map(([name, files]) =>
        project(name, [files], {
          // Two jobs of Spark at once would take each other's processors.
          fileParallelism: name !== 'spark',
          testTimeout: 2 * HANG_MS,
        }),
      ),
    ],
  },
})
