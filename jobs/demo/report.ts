// The report of `fvs demo` on its scored world: leaderboards, checks, pages to look at, and the variables
// with which other commands work on it.
import { verifierKeyText } from '../../pipeline/proof/note-keys.ts'
import type { Components } from '../components/components.ts'
import { OWNERS } from '../sandbox/simulated-agents.ts'
import { type Highlights, describeHighlights, spanOf, titleOf } from './highlights.ts'
import type { RankedEntity } from './served.ts'

export interface DemoOutcome extends Highlights {
  simulated: true
  seed: number
  url: string
  store: string
  /** The folder or URL of the sandbox's part of the store. */
  data: string
  questions: { asked: number; weeks: number; open: number }
  forecasts: { submitted: number; imported: number }
  /** The answer to an agent that submits after the outcome. */
  refusal: string
  /** A question that is still open. */
  open_question_id: string
  release: number
  verification: object
  proof: object
  audit: object
}

/** `checks` are the reports of the checks; `variablesFile` is undefined if the service does not serve on. */
export function describeDemo(
  outcome: DemoOutcome,
  checks: readonly { text: string }[],
  variablesFile: string | undefined,
): string {
  const { agents, forecasters, questions, forecasts, release, refusal } = outcome
  return [
    `All of this is simulated, from the seed ${outcome.seed}, in the sandbox: ${questions.asked} questions of the last ${questions.weeks} weeks,`,
    `${forecasts.submitted} forecasts of agents, as if they had submitted them then, and ${forecasts.imported} of people, which were imported.`,
    '',
    `Agents in release ${release}`,
    ...table(agents),
    '  rank: of so many of its kind as have a rank in its pool, whose members common questions tie together.',
    '  In brackets: the ranks from which it cannot be told apart, where there are others than its own.',
    '',
    `Forecasters, the first five; all ${forecasters.length} together: ${badgesOf(forecasters)}`,
    ...table(forecasters, 5),
    '',
    'Worth a look',
    ...describeHighlights(outcome, outcome.url),
    '',
    'Checks',
    `  a late forecast was refused: ${refusal}`,
    ...checks.map(({ text }) => text.replaceAll(/^/gm, '  ')),
    ...(variablesFile === undefined ? [] : ['', ...whereToLook(outcome, variablesFile)]),
  ].join('\n')
}

function badgesOf(forecasters: readonly RankedEntity[]): string {
  const badges = Map.groupBy(forecasters, titleOf)
  return [...badges].map(([badge, own]) => `${own.length} ${badge}`).join(', ')
}

/** Shows the first entities of a kind. Names owners if there are any. */
function table(all: readonly RankedEntity[], most = Infinity): string[] {
  const boards = Map.groupBy(
    all.filter(({ rank }) => rank !== null),
    ({ pool }) => pool,
  )
  const rows = all.slice(0, most)
  const cells = rows.map((row) => {
    const { name, owner, traits, verification, pool } = row
    const { skill, skill_interval, contested_questions } = verification
    return {
      name,
      award: titleOf(row),
      skill: skill?.toFixed(3) ?? '-',
      interval: skill === null ? '-' : spanOf(skill_interval),
      rank: rankText(row, boards.get(pool)?.length ?? 0),
      questions: String(contested_questions),
      owner: owner ?? '-',
      'how it was made': traits,
    }
  })
  const columns = Object.keys(cells[0]!) as (keyof (typeof cells)[number])[]
  const shown = columns.filter((column) => column !== 'owner' || rows.some(({ owner }) => owner !== null))
  const lines = [shown, ...cells.map((row) => shown.map((column) => row[column]))]
  const widths = shown.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  return lines.map((line) =>
    `  ${line.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd(),
  )
}

/** Names the three most telling pages: the leaders, a record, and an owner of several agents. */
function pagesWorthOpening({ url, agents }: Pick<DemoOutcome, 'url' | 'agents'>): string[] {
  return [
    `  who leads, and who cannot be told apart    ${url}/view/agents`,
    `  the record of the first agent              ${url}/view/agents/${agents[0]!.id}`,
    `  one owner, several agents                  ${url}/view/owners/${OWNERS.several}`,
  ]
}

function rankText({ rank, rank_interval: ranks }: RankedEntity, boardSize: number): string {
  if (rank === null || ranks === null) return '-'
  const { lower, upper } = ranks
  return `${rank} of ${boardSize}${lower === upper ? '' : ` (${lower} to ${upper})`}`
}

function whereToLook(outcome: DemoOutcome, variablesFile: string): string[] {
  const { url, data, questions, forecasters } = outcome
  const agent = outcome.agents[0]!.id
  return [
    'The service keeps running. Open in a browser:',
    '',
    ...pagesWorthOpening(outcome),
    '',
    'Look at it from a second terminal:',
    '',
    `  curl -i ${url}/agents/${agent}/verification`,
    `  curl ${url}/agents/${agent}/metrics`,
    `  curl ${url}/snapshots/forecaster/${forecasters[0]!.id}`,
    `  curl "${url}/questions?status=open"`,
    '',
    'or with the secret, the key of the log and the store of the demo, in the folder of the repository:',
    '',
    `  . ${variablesFile}`,
    `  npx --no-install fvs verify --environment sandbox ${url}/agents/${agent}/verification`,
    `  npx --no-install fvs verify ${url}/agents/${agent}/verification --vkey "$LOG_VKEY"`,
    '  npx --no-install fvs audit --environment sandbox',
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

/**
 * Returns the variables with which commands in another terminal work on this sandbox, and those in the
 * examples.
 */
export function variablesOf(
  { settings, own, signers }: Components,
  outcome: DemoOutcome,
): Record<string, string> {
  const secret = own.VERIFICATION_SIGNING_SECRET ?? ''
  return {
    STORE_URL: outcome.store,
    SANDBOX_VERIFICATION_SIGNING_SECRET: secret,
    SANDBOX_LOG_SIGNING_KEY: own.LOG_SIGNING_KEY ?? '',
    LOG_VKEY: verifierKeyText(signers[0]!.verifier),
    LOG_LEVEL: settings.LOG_LEVEL,
    FVS_URL: outcome.url,
    SIGNING_SECRET: secret,
    DATA: outcome.data,
    AGENT_ID: outcome.agents[0]!.id,
    USER_ID: outcome.forecasters[0]!.id,
    QUESTION_ID: outcome.open_question_id,
  }
}

export function shellExports(variables: Record<string, string>): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join('')
}
