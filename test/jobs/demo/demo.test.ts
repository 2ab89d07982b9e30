import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { describeHighlights, tieGroupOf, titleOf } from '../../../jobs/demo/highlights.ts'
import type { DemoOutcome } from '../../../jobs/demo/report.ts'
import { SEED } from '../../../jobs/demo/show.ts'
import { OWNERS } from '../../../jobs/sandbox/simulated-agents.ts'
import { demoCredentials } from '../../support/credentials/demo.ts'
import { refusal } from '../../support/credentials/digitalbazaar.ts'
import { RunningCommand } from '../../support/command.ts'
import { testFolder } from '../../support/folder.ts'

const FVS = fileURLToPath(new URL('../../../jobs/fvs.js', import.meta.url))

/**
 * Runs the demo in its own temporary folder, with settings in the environment variables that it must ignore.
 */
async function startDemo(
  args: readonly string[],
): Promise<{ demo: RunningCommand; temporary: string; elsewhere: string }> {
  const folder = await testFolder()
  const temporary = join(folder, 'temporary')
  const elsewhere = join(folder, 'elsewhere')
  await mkdir(temporary)
  const env = {
    TMPDIR: temporary,
    STORE_URL: elsewhere,
    PORT: '',
    SANDBOX_VERIFICATION_SIGNING_SECRET: '',
    LOG_LEVEL: '',
  }
  return { demo: new RunningCommand(process.execPath, [FVS, 'demo', ...args], { env }), temporary, elsewhere }
}

/** What the command prints as JSON. */
type Shown = DemoOutcome & { ok: boolean; serving: boolean }

test('fvs demo --exit --json shows what it is to show, a signature and an audit, and leaves nothing', async () => {
  const kept = join(await testFolder(), 'store')
  const { demo, temporary, elsewhere } = await startDemo(['--exit', '--json', '--store', kept])
  const { code, stdout, stderr } = await demo.ended
  expect({ code, lines: stdout.split('\n').length }, stderr).toEqual({ code: 0, lines: 2 })
  const shown = JSON.parse(stdout) as Shown

  expect(shown).toMatchObject({ ok: true, serving: false, simulated: true, seed: SEED, release: 3 })
  expect(shown.questions).toEqual({ asked: 200, weeks: 20, open: 10 })
  expect(shown.forecasts).toEqual({ submitted: 7_040, imported: 9_600 })
  expect(shown.refusal).toMatch(/takes no forecast: it was resolved at /)
  expect(new Set(shown.agents.map(titleOf))).toEqual(new Set(['certified', 'measured', 'none']))
  expect(shown.agents.map(({ name }) => name).sort()).toEqual(
    Array.from({ length: 13 }, (_, index) => `simulated-agent-${String(index + 1).padStart(2, '0')}`),
  )
  const skills = shown.agents.map(({ verification }) => verification.skill ?? -Infinity)
  expect(skills).toEqual(skills.toSorted((a, b) => b - a))
  expect(shown.forecasters).toHaveLength(24)
  expect(shown.url).toMatch(/\/sandbox$/)
  for (const { verification } of [...shown.agents, ...shown.forecasters]) {
    expect(verification.environment).toBe('sandbox')
  }
  expect(shown.forecasters.map(titleOf)).toEqual(['certified', ...Array<string>(23).fill('measured')])
  expectHighlights(shown)
  expect(shown.verification).toMatchObject({ ok: true, checked: 1 })
  expect(shown.audit).toMatchObject({
    ok: true,
    signatures: { valid: 226, invalid: 0, unsigned: 0 },
    credentials_checked: await acceptedCredentials(shown, kept),
  })

  for (const line of stderr.trim().split('\n')) expect(line).toMatch(/^ *\d+\.\d s {2}\S/)
  expect(await readdir(temporary)).toEqual([])
  await expect(readdir(elsewhere)).rejects.toThrow('ENOENT')
})

/** Has the software of others check the credential of everyone who has one. Returns how many they are. */
async function acceptedCredentials(shown: Shown, kept: string): Promise<number> {
  const { held, ...published } = await demoCredentials(shown, kept)
  for (const credential of held) {
    expect(
      await refusal(credential, { ...published, now: new Date() }),
      String(credential['id']),
    ).toBeUndefined()
  }
  expect(held).toHaveLength(4)
  return held.length
}

function expectHighlights(shown: Shown): void {
  const { agents, forecasters, owners, url } = shown
  for (const { verification } of [...agents, ...forecasters]) expect(verification.voice_rule).toBe('recorded')
  const titles = (owner: string | null) => agents.filter((agent) => agent.owner === owner).map(titleOf)

  const group = tieGroupOf(forecasters)
  expect(group.length).toBeGreaterThan(1)
  for (const { board_interval: one } of group) {
    for (const { board_interval: other } of group) expect(one!.lower).toBeLessThanOrEqual(other!.upper)
  }

  const several = owners.find(({ owner_id }) => owner_id === OWNERS.several)!
  expect(several.agents.map(({ certification }) => certification).sort()).toEqual([
    'certified',
    'measured',
    'measured',
    'measured',
  ])
  expect(several).toMatchObject({ scored_agents: 4, certified: 1 })
  expect(titles(null).sort()).toEqual(['certified', ...Array<string>(4).fill('measured'), 'none'])
  expect(titles(OWNERS.copying)).toEqual(['measured'])
  expect(titles(OWNERS.late)).toEqual(['measured'])

  const lines = describeHighlights(shown, url)
  expect(lines).toEqual([
    expect.stringMatching(
      /a tie group.*: simulated-forecaster-\d+(, -\d+)+ {2}\S+\/forecaster\/[0-9a-f-]{36}\/rankings$/,
    ),
    expect.stringMatching(
      /an owner of 4 agents, 1 of them certified: simulated-owner-2 {2}\S+\/owners\/simulated-owner-2$/,
    ),
    expect.stringMatching(
      /copies the crowd, and is measured: simulated-agent-06, skill -\S+ \(.*\), median skill -\S+ \(.*\) {2}\S+\/verification$/,
    ),
    expect.stringMatching(
      /says every outcome in the last quarter, and is measured: simulated-agent-13, skill .* {2}\S+\/verification$/,
    ),
  ])
}

test('Ctrl-C in the middle, which npm sends a second time, ends it and leaves nothing', async () => {
  const { demo, temporary } = await startDemo([])
  await demo.printed(/fvs release --as-of/)
  const ended = demo.stop()
  void demo.stop()
  expect(await ended).toMatchObject({ code: 0, stdout: '' })
  expect((await ended).stderr).toMatch(/stopped before the end; nothing is left running\n$/)
  expect(await readdir(temporary)).toEqual([])
})

test('a store that is not empty is refused and left as it is', async () => {
  const store = join(await testFolder(), 'store')
  await mkdir(join(store, 'tables'), { recursive: true })
  await writeFile(join(store, 'tables', 'mine'), 'mine')
  const { demo, temporary } = await startDemo(['--store', store])
  expect(await demo.ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /already holds tables\/mine; the demo writes to an empty store only\n$/,
    ) as string,
  })
  expect(await readdir(store, { recursive: true })).toEqual(['tables', join('tables', 'mine')])
  expect(await readdir(temporary)).toEqual([])
})
