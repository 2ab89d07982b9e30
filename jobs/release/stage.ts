// `fvs release plan` and `fvs stage`: a release in stages, each of which reads lines and prints lines.
import { once } from 'node:events'
import { commitStages, type CommitRequest } from '../../pipeline/release/stage/commit.ts'
import type { Input } from '../../pipeline/release/stage/lines.ts'
import { partLines } from '../../pipeline/release/stage/parts.ts'
import { planStages } from '../../pipeline/release/stage/plan.ts'
import { type PublishRequest, publishLines } from '../../pipeline/release/stage/publish.ts'
import { scoreLines } from '../../pipeline/release/stage/score.ts'
import { sweepLines } from '../../pipeline/release/stage/sweep.ts'
import { storeTally } from '../../pipeline/release/stage/tally.ts'
import type { ReleaseRequest } from '../../pipeline/release/make.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { issueCredentials } from '../../pipeline/credentials/issue.ts'
import { assertOrigin, completeLog } from '../../pipeline/transparency/publish.ts'
import type { VoiceRule } from '../../schemas/payloads.ts'
import { recordOwnStatements } from '../agents/agents.ts'
import type { Components } from '../components/components.ts'
import { keepHouse } from './housekeeping.ts'
import type { Report } from '../command-line/output.ts'

export async function runPlan(components: Components, request: ReleaseRequest): Promise<Report> {
  await assertOrigin(components)
  await recordOwnStatements(components)
  return { ok: true, json: await planStages(components, request), text: '' }
}

export function runSweep(input: Input): Promise<void> {
  return printLines(sweepLines(METHODOLOGY, input))
}

export function runScore(input: Input): Promise<void> {
  return printLines(scoreLines(METHODOLOGY, input))
}

export async function runParts(input: Input): Promise<void> {
  process.stdout.write(await partLines(input))
}

/** Prints lines as fast as standard output takes them. */
async function printLines(lines: AsyncIterable<string>): Promise<void> {
  for await (const text of lines) {
    if (!process.stdout.write(text)) await once(process.stdout, 'drain')
  }
}

export async function runTally(
  { store }: Components,
  release: number,
  voiceRule: VoiceRule,
  input: Input,
): Promise<Report> {
  const sha256 = await storeTally(store, release, voiceRule, input)
  return { ok: true, json: { sha256 }, text: sha256 }
}

export async function runPublish(
  components: Components,
  request: PublishRequest,
  input: Input,
): Promise<Report> {
  await printLines(publishLines(components, request, input))
  return { ok: true, json: {}, text: '' }
}

export async function runCommit(
  components: Components,
  request: CommitRequest,
  input: Input,
): Promise<Report> {
  await assertOrigin(components)
  const result = await commitStages(components, request, input)
  await keepHouse(components, result)
  await completeLog(components, result.release)
  await issueCredentials(components, result.release)
  return { ok: true, json: result, text: '' }
}
