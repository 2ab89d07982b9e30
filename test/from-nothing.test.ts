// docs/run.md, From nothing: its commands, run as they stand. Nothing is adapted but: the clone is a workspace
// of links, the port a free one, and the backup lies in the folder of the test.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { RunningCommand } from './support/command.ts'
import { blocksOf } from './support/fenced-blocks.ts'
import { testFolder } from './support/folder.ts'
import { NO_SCRIPTS, makeWorkspace } from './support/workspace.ts'

test('docs/run.md leads from nothing to a service that is backed up, and of which the doctor says that all is well', async () => {
  const folder = await testFolder()
  const cwd = await makeWorkspace(folder)
  const [settings, start, first] = blocksOf('docs/run.md').map(({ code }) =>
    code.replace(/^git clone .*$/m, '').replaceAll('/mnt/backup', folder),
  )
  const run = (code: string) =>
    new RunningCommand('bash', ['-euo', 'pipefail', '-c', code], {
      cwd,
      env: { ...NO_SCRIPTS, PORT: '0', STORE_URL: undefined },
    })

  expect((await run(settings!).ended).stderr).toMatch(/^forecasts\.example\.org\/log\+[0-9a-f]{8}\+\S+$/m)
  expect((await stat(join(cwd, 'fvs.env'))).mode & 0o077).toBe(0)
  const again = await run(settings!).ended
  expect(again, 'secrets are not replaced').toMatchObject({ code: 1 })

  const service = run(start!)
  onTestFinished(async () => void (await service.stop()))
  await service.printed(/"signed":true,"msg":"serving"/)
  const made = await run(first!).ended
  expect(made.code, made.stderr + made.stdout).toBe(0)
  expect(made.stdout).toMatch(
    /1 of 1 rows added[^]*every byte derived again[^]*everything that it commits to holds[^]*fv_live_[^]* was copied to [^]*\nok {3}backup [^]*nothing must be done\n$/,
  )
  expect(made.stdout).not.toMatch(/^FIX|everyone on this machine/m)
})
