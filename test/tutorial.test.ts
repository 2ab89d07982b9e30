// docs/tutorial.md, run as it stands; the service that it starts gets a free port.
import { expect, onTestFinished, test } from 'vitest'
import { RunningCommand } from './support/command.ts'
import { blocksOf } from './support/fenced-blocks.ts'
import { testFolder } from './support/folder.ts'
import { NO_SCRIPTS, makeWorkspace } from './support/workspace.ts'

const ADDRESS = 'http://127.0.0.1:3000'

test('ten questions become a release, a page and a check', async () => {
  const cwd = await makeWorkspace(await testFolder())
  const blocks = blocksOf('docs/tutorial.md').map(({ code }) => code)
  const serving = blocks.findIndex((code) => code.includes('fvs serve'))
  const run = (code: string) =>
    new RunningCommand('bash', ['-euo', 'pipefail', '-c', code], { cwd, env: { ...NO_SCRIPTS, PORT: '0' } })

  const made = await run(blocks.slice(0, serving).join('\n')).ended
  expect(made.code, made.stderr).toBe(0)
  expect(made.stdout).toMatch(
    /10 rows 10 are new[^]*10 of 10 rows added[^]*90 of 90 rows added[^]*6 entities, 60 scored pairs[^]*every byte derived again/,
  )

  const service = run(blocks[serving]!)
  onTestFinished(async () => void (await service.stop()))
  const [, url] = await service.printed(/"url":"([^"]+)"/)
  const page = await fetch(`${url}/view/forecasters`).then((answer) => answer.text())
  expect(page).toContain('Not enough questions yet')
  expect(page).toContain('Person A')

  const checked = await run(
    blocks
      .slice(serving + 1)
      .join('\n')
      .replaceAll(ADDRESS, url!),
  ).ended
  expect(checked.code, checked.stderr).toBe(0)
  expect(checked.stdout).toContain('the signature holds')
})
