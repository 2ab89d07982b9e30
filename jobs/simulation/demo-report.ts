// What `fvs demo` has to show once its simulated world is scored: leaderboards, checks, and where to look.
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { EntityType } from '../../schemas/tables.ts'
import { runAudit } from '../audit.ts'
import type { Verified } from './demo-client.ts'
import type { Played, Stage } from './demo-steps.ts'
import { FORECASTERS, SEED } from './demo-world.ts'
import { runVerify } from '../verify.ts'

/** An entity with its name and how it was simulated. */
interface Entrant {
  id: string
  name: string
  traits: string
}
type Placed = Entrant & Pick<Verified, 'verification' | 'signature'>

export interface DemoOutcome extends Omit<Played, 'agents' | 'openQuestionId'> {
  simulated: true
  seed: number
  url: string
  store: string
  /** From the most skilled on; those that are not eligible last. */
  agents: Placed[]
  forecasters: Placed[]
  open_question_id: string
  verification: object
  audit: object
}

export interface Checked {
  outcome: DemoOutcome
  ok: boolean
  texts: { verification: string; audit: string }
}

/** Asks the service for what the release says, and checks a signature and the whole release. */
export async function checkDemo(stage: Stage, played: Played): Promise<Checked> {
  const { components, client, say } = stage
  const { agents, openQuestionId, ...rest } = played
  say('fvs keys create --tier pro')
  const pro = { tier: 'pro', monthly_calls: null } as const
  const apiKey = await components.registry.createClientKey('the demo', components.now(), pro)
  say('POST /verification/bulk, once the release is served')
  const entrants = agents.map(({ credentials, name, modelType }) => ({
    id: credentials.agentId,
    name,
    traits: modelType,
  }))
  const forecasters = FORECASTERS.map(({ userId, name, noise }) => ({
    id: userId,
    name,
    traits: `simulated: noise ${noise.toFixed(2)}`,
  }))
  const places = {
    agents: await placesOf(stage, apiKey, played.release, 'agent', entrants),
    forecasters: await placesOf(stage, apiKey, played.release, 'forecaster', forecasters),
  }
  const url = `${client.url}/agents/${places.agents[0]!.id}/verification`
  say(`fvs verify ${url}`)
  const verification = await runVerify(components.settings, url, undefined)
  say('fvs audit')
  const audit = await runAudit(components, played.release)
  const outcome: DemoOutcome = {
    simulated: true,
    seed: SEED,
    url: client.url,
    store: components.store.url,
    ...rest,
    ...places,
    open_question_id: openQuestionId,
    verification: verification.json,
    audit: audit.json,
  }
  return {
    outcome,
    ok: verification.ok && audit.ok,
    texts: { verification: verification.text, audit: audit.text },
  }
}

/** From the most skilled on, as soon as the service serves the release. */
async function placesOf(
  { client, signal }: Stage,
  apiKey: string,
  release: number,
  entityType: EntityType,
  entrants: readonly Entrant[],
): Promise<Placed[]> {
  for (;;) {
    const results = await client.verifications(
      apiKey,
      entityType,
      entrants.map(({ id }) => id),
    )
    const verified = new Map(results.map((result) => [result.id, result]))
    const placed = entrants.flatMap((entrant) => {
      const result = verified.get(entrant.id)
      return result?.verification.release === release
        ? [{ ...entrant, verification: result.verification, signature: result.signature }]
        : []
    })
    if (placed.length === entrants.length) {
      return placed.sort((a, b) => (b.verification.skill ?? -Infinity) - (a.verification.skill ?? -Infinity))
    }
    await pause(100, undefined, { signal })
  }
}

export function describeDemo({ outcome, texts }: Checked, variablesFile: string | undefined): string {
  const { agents, forecasters, questions, forecasts, release, refusal } = outcome
  return [
    `All of this is simulated, from the seed ${outcome.seed}: ${questions.live} questions were open for ${questions.live_for_seconds} seconds, in which simulated`,
    `agents submitted ${forecasts.submitted} forecasts over HTTP; ${forecasts.imported} forecasts of simulated people were imported.`,
    '',
    `Agents in release ${release}`,
    ...table(agents),
    '',
    'Forecasters, the first five',
    ...table(forecasters.slice(0, 5)),
    '',
    'Checks',
    ...[`a late forecast was refused: ${refusal}`, texts.verification, texts.audit]
      .join('\n')
      .split('\n')
      .map((line) => `  ${line}`),
    ...(variablesFile === undefined ? [] : ['', ...whereToLook(outcome, variablesFile)]),
  ].join('\n')
}

function table(rows: readonly Placed[]): string[] {
  const head = ['name', 'standing', 'skill', '95 % interval', 'percentile', 'questions', 'how it was made']
  const cells = rows.map(({ name, traits, verification }) => {
    const { skill, skill_interval: interval, percentile, resolved_questions: resolved } = verification
    return [
      name,
      'certification' in verification ? verification.certification : verification.badge,
      skill?.toFixed(3) ?? '-',
      interval ? `${interval.lower.toFixed(3)} to ${interval.upper.toFixed(3)}` : '-',
      percentile?.toFixed(2) ?? '-',
      String(resolved),
      traits,
    ]
  })
  const lines = [head, ...cells]
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  return lines.map((line) =>
    `  ${line.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd(),
  )
}

function whereToLook({ url, store, questions }: DemoOutcome, variablesFile: string): string[] {
  const data = store.startsWith('file:') ? fileURLToPath(store) : store
  return [
    'The service keeps running. Look at it from a second terminal, in the folder of the repository:',
    '',
    `  . ${variablesFile}`,
    '  curl -i "$FVS_URL/agents/$AGENT_ID/verification"',
    '  curl "$FVS_URL/agents/$AGENT_ID/metrics"',
    '  curl "$FVS_URL/snapshots/forecaster/$USER_ID"',
    '  curl "$FVS_URL/questions?status=open"',
    '  npx fvs verify "$FVS_URL/agents/$AGENT_ID/verification"',
    '  npx fvs audit',
    '',
    `  service      ${url}, described at ${url}/openapi.json`,
    `  data         ${data}`,
    `  imported     ${dirname(variablesFile)}/*.csv`,
    `  DuckDB       FROM '${data}/releases/*/entities/*.parquet'`,
    `  Polars       pl.scan_delta('${data}/tables/forecasts')`,
    '  documents    README.md, docs/verifying.md, docs/data.md, docs/methodology.md',
    '',
    `${questions.open} questions stay open for forecasts of your own; a release follows each minute in which something changed.`,
    'Ctrl-C ends the service and removes the folder; data in a store given with --store stay.',
  ]
}
