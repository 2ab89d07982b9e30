// The real service, as a process of its own, against its own OpenAPI document: schemathesis makes calls that
// keep to the document and calls that do not, and holds every answer against it.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { MOUNTS } from '../../api/mounts.ts'
import { QUESTION_ID } from '../../api/openapi/examples.ts'
import { CHANGED_QUESTION_ID } from '../../api/openapi/operator-examples.ts'
import { RunningCommand } from '../support/command.ts'
import { KEYLESS_AGENT_ID, LEAVING_AGENT_ID, releaseExamples } from '../support/worlds/example-world.ts'
import { external } from '../support/external.ts'
import { testFolder } from '../support/folder.ts'
import { fvsServe } from '../support/process.ts'
import { Client, Clock, testComponents } from '../support/http/service.ts'
import { NOW } from '../support/worlds/world.ts'
import { LOG_SECRET } from '../support/worlds/written-log.ts'

const tools = external(
  ['SCHEMATHESIS'],
  'this test needs test/openapi/requirements.txt; `test/support/python-venv.sh DIR` installs them',
)
interface Report {
  operations: { total: number; tested: number }
  test_cases: { generated: number; with_failures: number }
  warnings: Record<string, unknown[]>
  /** Of the calls that kept to the document, by operation and phase: how many succeeded. */
  valid_rates: Record<string, Record<string, { accepted: number }>>
}

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

describe.skipIf(!tools)('schemathesis finds nothing that the document does not say of', () => {
  // The sandbox is the same code over another store.
  test.for([
    ['production', { phases: 'examples,coverage,fuzzing,stateful', tested: 84, cases: 1000 }],
    ['sandbox', { phases: 'examples', tested: 72, cases: 20 }],
  ] as const)('the service in %s', async ([environment, { phases, tested, cases }]) => {
    const folder = await testFolder()
    const keys = await releaseExamples(await testComponents({ folder, environment, clock: new Clock(NOW) }))
    const env = {
      STORE_URL: join(folder, 'store'),
      LOG_SIGNING_KEY: LOG_SECRET,
      // Many of its calls fail, as they should.
      ATTEMPTS_PER_MINUTE: '1000000',
      SANDBOX_ATTEMPTS_PER_MINUTE: '1000000',
    }
    const service = await fvsServe({ folder, env }, '--no-scheduler')
    const report = join(folder, 'report.json')
    const url = service.url + MOUNTS[environment]
    // From a file: schemathesis does not call what it has read the document from.
    const document = join(folder, 'openapi.json')
    await writeFile(document, (await new Client(url).get('/openapi.json')).bytes)
    const command = new RunningCommand(
      tools!.SCHEMATHESIS,
      [
        `--config-file=${fileOf('schemathesis.toml')}`,
        'run',
        document,
        `--url=${url}`,
        `--phases=${phases}`,
        '--checks=all',
        '--report=json',
        `--report-json-path=${report}`,
        '--no-color',
      ],
      {
        cwd: folder,
        env: {
          SCHEMATHESIS_HOOKS: fileOf('schemathesis_hooks.py'),
          AGENT_KEY: keys.agent,
          LEAVING_AGENT_ID,
          LEAVING_AGENT_KEY: keys.leavingAgent,
          KEYLESS_AGENT_ID,
          KEYLESS_AGENT_KEY: keys.keylessAgent,
          CLIENT_KEY: keys.client,
          OPERATOR_KEY: keys.operator,
          QUESTION_ID,
          CHANGED_QUESTION_ID,
        },
      },
    )
    const { code, stdout, stderr } = await command.ended
    expect(code, stdout + stderr).toBe(0)
    const { operations, test_cases, warnings, valid_rates } = JSON.parse(
      await readFile(report, 'utf8'),
    ) as Report
    console.log(`${url}: ${operations.tested} operations, ${test_cases.generated} cases, no finding`)
    expect(operations.tested).toBe(tested)
    expect(test_cases.generated).toBeGreaterThan(cases)
    expect(Object.entries(warnings).filter(([, warned]) => warned.length > 0)).toEqual([])
    for (const [operation, phasesOf] of Object.entries(valid_rates)) {
      const accepted = Object.values(phasesOf).reduce((sum, phase) => sum + phase.accepted, 0)
      expect(accepted, operation).toBeGreaterThan(0)
    }
  })
})
