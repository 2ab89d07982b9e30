// The alerts of deploy/prometheus, as Prometheus itself reads them: none fires while all is well, and each
// fires in the trouble that it is for.
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { external } from '../support/external.ts'
import { REPOSITORY, textOf } from '../support/fenced-blocks.ts'
import { testFolder } from '../support/folder.ts'

const programs = external(['PROMTOOL'], 'install promtool, such as of Debian’s package prometheus')
const RULES = join(REPOSITORY, 'deploy/prometheus/fvs.rules.yaml')
const names = [...textOf('deploy/prometheus/fvs.rules.yaml').matchAll(/alert: (\w+)/g)].map(
  ([, name]) => name!,
)

const promtool = (...words: string[]) => promisify(execFile)(programs!.PROMTOOL, words)

/** The longest look back of a rule is a day, and it holds for an hour before its alert fires. */
const STEP_MINUTES = 2
const STEPS = (26 * 60) / STEP_MINUTES

/** A series of each of two nodes: its labels, and its values in Prometheus's notation. */
type Series = readonly [series: string, well: string, inTrouble: string, ofOneNode?: boolean]

const constant = (value: number) => `${value}x${STEPS}`
const rising = (by: number) => `0+${by}x${STEPS}`
const forecast = 'method="POST",route="/agents/:agent_id/forecast"'

const SERIES: readonly Series[] = [
  ['up{}', constant(1), constant(0)],
  ['fvs_check_ok{environment="production",check="reads"}', constant(1), constant(0)],
  ['fvs_check_ok{environment="production",check="release"}', constant(0), constant(0)],
  ['fvs_release_age_seconds{environment="production"}', constant(86_000), constant(90_001)],
  ['fvs_release{environment="production"}', constant(7), constant(8), true],
  ['fvs_http_request_seconds_count{method="GET",route="/readyz",status="503"}', rising(60), rising(60)],
  ['fvs_http_request_seconds_count{method="GET",route="/",status="200"}', rising(600), rising(600)],
  ['fvs_http_request_seconds_count{method="GET",route="/",status="500"}', rising(1), rising(12)],
  [`fvs_http_request_seconds_bucket{${forecast},status="201",le="1"}`, rising(100), rising(98)],
  [`fvs_http_request_seconds_bucket{${forecast},status="201",le="5"}`, rising(100), rising(100)],
  [`fvs_http_request_seconds_bucket{${forecast},status="201",le="+Inf"}`, rising(100), rising(100)],
  ['fvs_commit_seconds_bucket{environment="production",le="1"}', rising(100), rising(98)],
  ['fvs_commit_seconds_bucket{environment="production",le="5"}', rising(100), rising(100)],
  ['fvs_commit_seconds_bucket{environment="production",le="+Inf"}', rising(100), rising(100)],
  ['fvs_commit_queued{environment="production"}', constant(500), constant(10_001)],
  ['fvs_inbox_oldest_seconds{environment="production"}', constant(900), constant(3_601)],
  ['fvs_refresh_failures_total{environment="production"}', constant(3), rising(1)],
  ['fvs_corrupt_total{environment="production"}', constant(1), rising(1)],
  ['fvs_question_overdue_seconds{environment="production"}', constant(86_400), constant(604_801)],
  ['fvs_questions{environment="production",state="overdue"}', constant(5), rising(1)],
  ['fvs_quota_store_ok{environment="production"}', constant(1), constant(0)],
  ['fvs_usage_pending{environment="production"}', constant(200), constant(4_000)],
]

/** Runs the rules over all series, and returns what promtool says of the alerts that should fire. */
async function tested(isTrouble: boolean): Promise<string> {
  const nodes = ['a', 'b']
  const input_series = SERIES.flatMap(([series, well, inTrouble, ofOneNode]) =>
    nodes.map((instance) => ({
      series: series.replace('{', `{job="fvs",instance="${instance}",`).replace(',}', '}'),
      values: isTrouble && !(ofOneNode && instance === 'a') ? inTrouble : well,
    })),
  )
  const exp_samples = isTrouble
    ? names
        .map((name) => ({ labels: `{alertname="${name}"}`, value: 1 }))
        .toSorted((a, b) => (a.labels < b.labels ? -1 : 1))
    : []
  const expected = {
    expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
    eval_time: `${(STEPS - 1) * STEP_MINUTES}m`,
    exp_samples,
  }
  const file = join(await testFolder(), 'alerts.json')
  const content = {
    rule_files: [RULES],
    evaluation_interval: `${STEP_MINUTES}m`,
    tests: [{ interval: `${STEP_MINUTES}m`, input_series, promql_expr_test: [expected] }],
  }
  await writeFile(file, JSON.stringify(content))
  return (await promtool('test', 'rules', file)).stdout
}

describe.skipIf(!programs)('Prometheus', () => {
  test('reads the rules', async () => {
    expect((await promtool('check', 'rules', RULES)).stdout).toContain(`SUCCESS: ${names.length} rules found`)
  })

  test('raises no alert while all is well', async () => {
    expect(await tested(false)).toContain('SUCCESS')
  })

  test('raises each alert in the trouble that it is for', async () => {
    expect(await tested(true)).toContain('SUCCESS')
  })
})
