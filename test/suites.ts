// Which suite a test file belongs to: to `unit`, unless a list has it. `unit` leaves out the tests that are
// marked as slow, and `exhaustive` runs the files that have any. Both need nothing but this machine.
import { globSync, readFileSync } from 'node:fs'

/**
 * Suites that run the service as a whole, or others' programs; they need Python, the rights of root and
 * promtool.
 */
export const SYSTEM = [
  'test/{build,examples,from-nothing,mirror,readme,recipes,tutorial}.test.ts',
  'test/clients/{clients,keys}.test.ts',
  'test/deploy/{alerts,install}.test.ts',
  'test/proof/published-verifiers.test.ts',
  'test/webhooks/sample.test.ts',
  'test/jobs/commands.test.ts',
  'test/jobs/command-line/closed-output.test.ts',
  'test/jobs/components/credential-issuer.test.ts',
  'test/jobs/{agents/agents,backup/backup,demo/demo}.test.ts',
  'test/jobs/audit/{audit,audit.thinned,shared-data}.test.ts',
  'test/jobs/import/{at-once,import}.test.ts',
  'test/jobs/keys/{keys,signing-keys}.test.ts',
  'test/jobs/mcp/{mcp,mcp.verified}.test.ts',
  'test/jobs/monitor/{monitor,witness}.test.ts',
  'test/jobs/sandbox/{seed,step}.test.ts',
  'test/jobs/serve/{environments,kill,quotas,shared-port,stray-exceptions}.test.ts',
  'test/jobs/verify/{verify-credential,verify-record}.test.ts',
]

/**
 * Suites that need a server, a browser, or other software: `s3` a real S3 server, `delta` other readers of
 * the tables, `redis` a real Redis, `openapi` a tester of HTTP services, `faults` the S3 server and the
 * rights of root, `pages` a real Chromium, `transparency` others' programs that read logs, cosign them and
 * verify credentials, `spark` Apache Spark.
 */
export const OUTSIDE = {
  s3: 'test/s3/**/*.test.ts',
  delta: 'test/delta/**/*.test.ts',
  redis: 'test/redis/**/*.test.ts',
  faults: 'test/faults/**/*.test.ts',
  pages: 'test/pages/**/*.test.ts',
  transparency: 'test/{badges,tlog}/**/*.test.ts',
  openapi: 'test/openapi/**/*.test.ts',
  spark: 'test/spark/**/*.test.ts',
}

/** The files that patterns name, in the order of their names. */
export const filesIn = (patterns: readonly string[]): string[] =>
  globSync(patterns, { exclude: ['**/node_modules/**'] }).sort()

const elsewhere = new Set(filesIn([...SYSTEM, ...Object.values(OUTSIDE)]))
/** The files that need nothing but this machine. */
const LOCAL = filesIn(['test/**/*.test.ts']).filter((file) => !elsewhere.has(file))

const textOf = (file: string) => readFileSync(file, 'utf8')
const isSlow = (file: string) => textOf(file).includes('// @module-tag slow')

/** The files of which `npm test` runs the tests that are not slow. */
export const UNIT = LOCAL.filter((file) => !isSlow(file))

/**
 * Files with a slow test, such as one that cuts off every write or changes every byte, and files that try a
 * property more often in `exhaustive` than in `unit`.
 */
export const EXHAUSTIVE = LOCAL.filter(
  (file) => isSlow(file) || /\{ tags: \['slow'\]|support\/(runs|store-contract)\.ts'/.test(textOf(file)),
)

/**
 * What takes long. A run of CI takes a fifth of these files: `.ci/turn.ts` deals them in this order, so that
 * the longest come in different fifths.
 */
export const BY_TURNS = [
  'test/faults/damage.test.ts',
  'test/faults/kills.{disk,s3}.test.ts',
  'test/recipes.test.ts',
  'test/spark/release.test.ts',
  OUTSIDE.faults,
  OUTSIDE.openapi,
  OUTSIDE.spark,
  'test/delta/{http,tables}.test.ts',
  'test/pages/{forms,readers}.test.ts',
  ...EXHAUSTIVE,
]
