// Eleven projects: `unit` and `exhaustive` need nothing but this machine, `system` also the rights of root and promtool, `s3`
// a real S3 server, `delta` other readers of the tables, `redis` a real Redis, `openapi` a tester of HTTP services, `faults`
// the S3 server and the rights of root, `pages` a real Chromium, `transparency` others' programs that read logs, cosign them
// and verify credentials, `spark` Apache Spark.
import { defineConfig } from 'vitest/config'

/** Limits end what hangs; no test decides by time. */
const HANG_MS = 5 * 60_000

/** Suites that run the service as a whole, in processes of its own. */
const SYSTEM = [
  'test/{from-nothing,readme,tutorial}.test.ts',
  'test/build.test.ts',
  'test/deploy/{alerts,install}.test.ts',
  'test/jobs/commands.test.ts',
  'test/jobs/{agents/agents,backup/backup,demo/demo,import/at-once,keys/keys,monitor/monitor,sandbox/step}.test.ts',
  'test/jobs/audit/{audit,audit.thinned,shared-data}.test.ts',
  'test/jobs/mcp/{mcp,mcp.verified}.test.ts',
  'test/jobs/serve/{environments,kill,quotas,shared-port,stray-exceptions}.test.ts',
]

/** Every write cut off, every byte changed, every problem provoked, long random histories: what takes long to go through. */
const EXHAUSTIVE = [
  'test/faults.test.ts',
  'test/api/{fuzz,operator.faults}.test.ts',
  'test/api/openapi/walk.test.ts',
  'test/import/{faults,pairs,sources,sources.faults,undo}.test.ts',
  'test/release/{faults,histories,public-tables,quarantine,quarantine.races,quarantine.tables,replaced-outcomes}.test.ts',
  'test/scoring/{methodology.large.vectors,world.equivalence}.test.ts',
  'test/stage/stage.test.ts',
  'test/store/s3.faults.test.ts',
  'test/tables/compact.test.ts',
  'test/audit/{changed-bytes,log,outside}.test.ts',
  'test/backup/faults.test.ts',
  'test/people/erased-releases.test.ts',
]

/** Suites that need a server, a browser, or other software. */
const OUTSIDE = {
  s3: 'test/s3/**/*.test.ts',
  delta: 'test/delta/**/*.test.ts',
  redis: 'test/redis/**/*.test.ts',
  faults: 'test/faults/**/*.test.ts',
  pages: 'test/pages/**/*.test.ts',
  transparency: 'test/{badges,tlog}/**/*.test.ts',
  openapi: 'test/openapi/**/*.test.ts',
  spark: 'test/spark/**/*.test.ts',
}

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
    ...(report === undefined ? {} : { reporters: ['default', 'json'], outputFile: { json: report } }),
    projects: [
      project('unit', ['test/**/*.test.ts'], {
        exclude: [...SYSTEM, ...EXHAUSTIVE, ...Object.values(OUTSIDE)],
        isolate: ISOLATE,
      }),
      project('exhaustive', EXHAUSTIVE, { isolate: ISOLATE }),
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
