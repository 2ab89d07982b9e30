// What `fvs demo` shows once its simulated world is scored: leaderboards, checks, and where to look.
import { setTimeout as pause } from 'node:timers/promises'
import type { EntityType } from '../../schemas/tables.ts'
import type { Verified } from './demo-client.ts'
import type { Played, Stage } from './demo-steps.ts'
import { DEMO_FORECASTERS } from './demo-world.ts'

/** An entity with its name and how it was simulated. */
interface Entrant {
  id: string
  name: string
  traits: string
}
type Placed = Entrant & Pick<Verified, 'verification' | 'signature'>

/** From the most skilled on; those that are not eligible last. */
export interface Standings {
  agents: Placed[]
  forecasters: Placed[]
}

export interface DemoOutcome extends Omit<Played, 'agents'>, Standings {
  simulated: true
  seed: number
  url: string
  store: string
  /** Where the sandbox keeps its part of the store: a folder, or a URL. */
  data: string
  verification: object
  audit: object
}

/** Asks the service what the release says of everyone. */
export async function standingsOf(stage: Stage, { agents, release }: Played): Promise<Standings> {
  const { components, say } = stage
  say('fvs keys create --tier pro')
  const pro = { tier: 'pro', monthly_calls: null } as const
  const apiKey = await components.registry.createClientKey('the demo', components.now(), pro)
  say('POST /verification/bulk, once the release is served')
  const entrants = agents.map(({ credentials, name, modelType }) => ({
    id: credentials.agentId,
    name,
    traits: modelType,
  }))
  const forecasters = DEMO_FORECASTERS.map(({ userId, name, noise }) => ({
    id: userId,
    name,
    traits: `simulated: noise ${noise.toFixed(2)}`,
  }))
  return {
    agents: await placesOf(stage, apiKey, release, 'agent', entrants),
    forecasters: await placesOf(stage, apiKey, release, 'forecaster', forecasters),
  }
}

/** Asks again until the service serves the release. */
async function placesOf(
  { client, signal }: Stage,
  apiKey: string,
  release: number,
  entityType: EntityType,
  entrants: readonly Entrant[],
): Promise<Placed[]> {
  const ids = entrants.map(({ id }) => id)
  for (;;) {
    const results = await client.verifications(apiKey, entityType, ids)
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

/** `checks` are the lines that the checks have printed; without `variablesFile` nothing serves on. */
export function describeDemo(
  outcome: DemoOutcome,
  checks: readonly string[],
  variablesFile: string | undefined,
): string {
  const { agents, forecasters, questions, forecasts, release, refusal } = outcome
  return [
    `All of this is simulated, from the seed ${outcome.seed}, in the sandbox: ${questions.live} questions were open for ${questions.live_for_seconds} seconds,`,
    `in which agents submitted ${forecasts.submitted} forecasts over HTTP; ${forecasts.imported} forecasts of people were imported.`,
    '',
    `Agents in release ${release}`,
    ...table(agents),
    '',
    'Forecasters, the first five',
    ...table(forecasters.slice(0, 5)),
    '',
    'Checks',
    ...[`a late forecast was refused: ${refusal}`, ...checks].map((line) => `  ${line}`),
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

function whereToLook({ url, data, questions }: DemoOutcome, variablesFile: string): string[] {
  return [
    'The service keeps running. Look at it from a second terminal, in the folder of the repository:',
    '',
    `  . ${variablesFile}`,
    '  curl -i "$FVS_URL/agents/$AGENT_ID/verification"',
    '  curl "$FVS_URL/agents/$AGENT_ID/metrics"',
    '  curl "$FVS_URL/snapshots/forecaster/$USER_ID"',
    '  curl "$FVS_URL/questions?status=open"',
    '  npx fvs verify --environment sandbox "$FVS_URL/agents/$AGENT_ID/verification"',
    '  npx fvs audit --environment sandbox',
    '',
    `  service      ${url}, described at ${url}/openapi.json`,
    `  data         ${data}`,
    `  DuckDB       FROM '${data}/releases/*/entities/*.parquet'`,
    `  Polars       pl.scan_delta('${data}/tables/forecasts')`,
    '  documents    README.md, docs/verifying.md, docs/data.md, docs/methodology.md',
    '',
    `${questions.open} questions stay open for a week for forecasts of your own. The simulation goes on: ten more open, close and`,
    'resolve every five minutes, and a release follows each minute in which something has changed.',
    'Ctrl-C ends the service and removes the folder; data in a store given with --store stay.',
  ]
}
