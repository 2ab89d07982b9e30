import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import {
  SEED,
  simulateAgents,
  simulateLive,
  simulateOpen,
  simulatePast,
} from '../../jobs/simulation/demo-world.ts'
import { RunningCommand } from '../support/command.ts'
import { testFolder } from '../support/folder.ts'

const FVS = fileURLToPath(new URL('../../jobs/fvs.ts', import.meta.url))

/** Runs the demo in its own temporary folder, with settings in the environment variables that it must ignore. */
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

interface Shown {
  ok: boolean
  serving: boolean
  simulated: boolean
  seed: number
  release: number
  forecasts: { submitted: number; imported: number }
  refusal: string
  url: string
  agents: {
    name: string
    verification: { certification: string; skill: number | null; release: number; environment: string }
  }[]
  forecasters: { name: string; verification: { badge: string; environment: string } }[]
  verification: { ok: boolean; checked: number }
  audit: {
    ok: boolean
    files_compared: number
    signatures: { valid: number; invalid: number; unsigned: number }
  }
}

test('fvs demo --exit --json shows every certification, a signature and an audit, and leaves nothing', async () => {
  const { demo, temporary, elsewhere } = await startDemo(['--exit', '--json'])
  const { code, stdout, stderr } = await demo.ended
  expect({ code, lines: stdout.split('\n').length }, stderr).toEqual({ code: 0, lines: 2 })
  const shown = JSON.parse(stdout) as Shown

  expect(shown).toMatchObject({ ok: true, serving: false, simulated: true, seed: SEED, release: 3 })
  expect(shown.forecasts.submitted).toBeGreaterThan(1_000)
  expect(shown.refusal).toMatch(/takes no forecast: it closed at /)
  expect(new Set(shown.agents.map(({ verification }) => verification.certification))).toEqual(
    new Set(['expert', 'certified', 'provisional', 'none']),
  )
  expect(shown.agents.map(({ name }) => name).sort()).toEqual(
    Array.from({ length: 12 }, (_, index) => `simulated-agent-${String(index + 1).padStart(2, '0')}`),
  )
  const skills = shown.agents.map(({ verification }) => verification.skill ?? -Infinity)
  expect(skills).toEqual(skills.toSorted((a, b) => b - a))
  expect(shown.forecasters).toHaveLength(24)
  expect(shown.url).toMatch(/\/sandbox$/)
  for (const { verification } of [...shown.agents, ...shown.forecasters]) {
    expect(verification.environment).toBe('sandbox')
  }
  expect(shown.forecasters[0]!.verification.badge).toBe('gold')
  expect(shown.verification).toMatchObject({ ok: true, checked: 1 })
  expect(shown.audit).toMatchObject({ ok: true, signatures: { valid: 180, invalid: 0, unsigned: 0 } })

  for (const line of stderr.trim().split('\n')) expect(line).toMatch(/^ *\d+\.\d s {2}\S/)
  expect(await readdir(temporary)).toEqual([])
  await expect(readdir(elsewhere)).rejects.toThrow('ENOENT')
}, 60_000)

test('Ctrl-C in the middle, which npm sends a second time, ends it and leaves nothing', async () => {
  const { demo, temporary } = await startDemo([])
  await demo.printed(/round 1 of/)
  const ended = demo.stop()
  void demo.stop()
  expect(await ended).toMatchObject({ code: 0, stdout: '' })
  expect((await ended).stderr).toMatch(/stopped before the end; nothing is left running\n$/)
  expect(await readdir(temporary)).toEqual([])
}, 60_000)

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

test('the same seed gives the same world at any time', () => {
  const worldAt = (at: string) => {
    const past = simulatePast(new Date(at))
    const live = simulateLive(new Date(at), 1_000)
    const questions = [...past.questions, ...live.questions, ...simulateOpen(new Date(at))]
    // The ids contain the time. The titles do not: they have each question's number and odds.
    const titles = new Map(questions.map(({ questionId, title }) => [questionId, title]))
    const on = ({ questionId, probability }: { questionId: string; probability: number }) => ({
      title: titles.get(questionId),
      probability,
    })
    return {
      agents: simulateAgents(live.questions).map(({ rounds, ...agent }) => ({
        ...agent,
        rounds: rounds.map((round) => round.map(on)),
      })),
      outcomes: questions.map(({ title, outcome }) => ({ title, outcome })),
      forecasts: [...past.forecasts, ...live.forecasts].map((forecast) => ({
        userId: forecast.userId,
        ...on(forecast),
      })),
    }
  }
  expect(worldAt('2026-01-01T00:00:00Z')).toEqual(worldAt('2031-05-05T05:05:05Z'))
})
