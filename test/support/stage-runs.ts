// Runs the stages of a release: in this process, or each as a command.
import { fileURLToPath } from 'node:url'
import type { Components } from '../../jobs/components/components.ts'
import type { NoRelease } from '../../pipeline/release/make.ts'
import { PART_SIZES } from '../../pipeline/release/parts.ts'
import { commitStages } from '../../pipeline/release/stage/commit.ts'
import { partLines } from '../../pipeline/release/stage/parts.ts'
import { type StagedPlan, planStages } from '../../pipeline/release/stage/plan.ts'
import { publishLines } from '../../pipeline/release/stage/publish.ts'
import { scoreLines } from '../../pipeline/release/stage/score.ts'
import { sweepLines } from '../../pipeline/release/stage/sweep.ts'
import { storeTally } from '../../pipeline/release/stage/tally.ts'
import type { VoiceRule } from '../../schemas/payloads.ts'
import { RunningCommand } from './command.ts'
import { SECRET } from './http/service.ts'
import { inputOf, textOf } from './stage-lines.ts'

export interface StageOptions {
  release: number
  tally?: string
  voiceRule?: VoiceRule
  forecasts?: number
}

export interface Stages {
  plan: () => Promise<StagedPlan | NoRelease>
  /** Returns what the stage prints. */
  run: (stage: string, input: string, options?: StageOptions) => Promise<string>
}

export function inProcess(components: Components, sizes = PART_SIZES): Stages {
  const { methodology, store } = components
  return {
    plan: () => planStages(components, {}),
    async run(stage, text, { release, tally, voiceRule = 'recorded', forecasts = 0 } = { release: 0 }) {
      const input = inputOf(text)
      const [name, files] = stage.split(' ')
      const stages: Record<string, () => Promise<string>> = {
        sweep: () => textOf(sweepLines(methodology, input)),
        score: () => textOf(scoreLines(methodology, input)),
        parts: () => partLines(input, sizes),
        tally: () => storeTally(store, release, voiceRule, input),
        publish: () => textOf(publishLines(components, { release, files: files!, tally }, input)),
        commit: async () =>
          JSON.stringify(await commitStages(components, { release, tally: tally!, forecasts }, input, sizes)),
      }
      return stages[name!]!()
    },
  }
}

const FVS = fileURLToPath(new URL('../../jobs/fvs.js', import.meta.url))

/** As commands on the store in a folder. */
export function asCommands(folder: string, asOf: string): Stages {
  const fvs = async (args: readonly string[], input = '') => {
    const env = { HOME: folder, TMPDIR: folder, STORE_URL: `${folder}/store`, LOG_LEVEL: 'silent' }
    const command = new RunningCommand(process.execPath, [FVS, ...args], {
      cwd: folder,
      env: { ...env, VERIFICATION_SIGNING_SECRET: SECRET },
      input,
    })
    const { code, stdout, stderr } = await command.ended
    if (code !== 0) throw new Error(stderr)
    return stdout
  }
  const given = (name: string, value: string | number | undefined) =>
    value === undefined ? [] : [`--${name}`, String(value)]
  return {
    plan: async () => JSON.parse(await fvs(['release', 'plan', '--as-of', asOf])) as StagedPlan | NoRelease,
    async run(stage, input, options) {
      const args = options
        ? [
            ...given('release', options.release),
            ...given('tally', options.tally),
            ...given('voice-rule', options.voiceRule),
            ...given('forecasts', options.forecasts),
          ]
        : []
      const printed = await fvs(['stage', ...stage.split(' '), ...args], input)
      return stage === 'tally' ? printed.trimEnd() : printed
    },
  }
}
