// Which suite a test file belongs to: to `unit`, unless a list has it. `unit` and `exhaustive` need nothing but this machine.

/** Suites that run the service as a whole, in processes of its own; they need the rights of root and promtool. */
export const SYSTEM = [
  'test/{from-nothing,readme,tutorial}.test.ts',
  'test/build.test.ts',
  'test/deploy/{alerts,install}.test.ts',
  'test/jobs/commands.test.ts',
  'test/jobs/{agents/agents,backup/backup,demo/demo,import/at-once,keys/keys,monitor/monitor,sandbox/step}.test.ts',
  'test/jobs/audit/{audit,audit.thinned,shared-data}.test.ts',
  'test/jobs/mcp/{mcp,mcp.verified}.test.ts',
  'test/jobs/serve/{environments,kill,quotas,shared-port,stray-exceptions}.test.ts',
]

/** Every write cut off, every byte changed, every problem provoked, long random histories. */
export const EXHAUSTIVE = [
  'test/faults.test.ts',
  'test/api/{fuzz,operator.faults}.test.ts',
  'test/api/openapi/walk.test.ts',
  'test/import/{faults,pairs,sources,sources.faults,undo}.test.ts',
  'test/release/{faults,histories,public-tables,quarantine,quarantine.races,quarantine.tables,replaced-outcomes}.test.ts',
  'test/scoring/world.equivalence.test.ts',
  'test/stage/stage.test.ts',
  'test/store/s3.faults.test.ts',
  'test/tables/compact.test.ts',
  'test/audit/{changed-bytes,log,outside}.test.ts',
  'test/backup/faults.test.ts',
  'test/people/erased-releases.test.ts',
]

/** Suites of properties: `unit` tries a quarter of their runs, `exhaustive` all. */
export const PROPERTIES = [
  'test/access/idempotency.faults.test.ts',
  'test/api/{current-forecasts/current-forecasts,pages/cards/card}.test.ts',
  'test/credentials/{data-integrity,issue,quads,status-list}.test.ts',
  'test/import/read-file.test.ts',
  'test/proof/{receipts,verify}.test.ts',
  'test/release/{forecasts-tree,score-rows}.test.ts',
  'test/scoring/{categories,question.equivalence}.test.ts',
]

/**
 * Suites that need a server, a browser, or other software: `s3` a real S3 server, `delta` other readers of the tables, `redis`
 * a real Redis, `openapi` a tester of HTTP services, `faults` the S3 server and the rights of root, `pages` a real Chromium,
 * `transparency` others' programs that read logs, cosign them and verify credentials, `spark` Apache Spark.
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

/** The files that take long. A run of CI takes a fifth of them: `.ci/turn.ts` says which. */
export const BY_TURNS = [
  ...EXHAUSTIVE,
  ...PROPERTIES,
  OUTSIDE.faults,
  OUTSIDE.openapi,
  OUTSIDE.spark,
  'test/delta/tables.test.ts',
  'test/pages/{forms,readers}.test.ts',
]
