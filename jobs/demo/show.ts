// The steps of `fvs demo` on its seeded and served world: releases, the service's answers, and checks.
import { fileURLToPath } from 'node:url'
import pMap from 'p-map'
import { verifierKeyText } from '../../pipeline/proof/note-keys.ts'
import { currentRelease } from '../../pipeline/release/read.ts'
import { runAudit } from '../audit/audit.ts'
import type { Report } from '../command-line/output.ts'
import type { Components } from '../components/components.ts'
import { runRelease } from '../release/release.ts'
import { agentIdIn, simulateHistory } from '../sandbox/history.ts'
import { OWNERS, SIMULATED_AGENTS } from '../sandbox/simulated-agents.ts'
import { PEOPLE, type Simulation, WEEK_MS } from '../sandbox/world.ts'
import { runVerify } from '../verify/verify.ts'
import { runVerifyProof } from '../verify/verify-proof.ts'
import type { DemoOutcome } from './report.ts'
import { type Entrant, rankedEntities, refusalOfLate, servedOwner } from './served.ts'

/** Chosen so that the demo shows the cases of test/jobs/demo/world.test.ts. */
export const SEED = 20_260_103
/** A certificate needs questions that close in at least ten weeks. Twenty give a clear margin. */
export const WEEKS = 20
/** The earlier releases, as weeks before the start, so that there is a history to look at. */
const EARLIER_RELEASES_WEEKS = [2, 1]

export type Say = (text: string) => void

interface Stage {
  /** The components of the sandbox. */
  components: Components
  world: Simulation
  /** The address of the served sandbox. */
  url: string
  /** The store with the sandbox in it. */
  store: string
  say: Say
  signal: AbortSignal
}

/** Makes releases of the seeded world, and shows and checks the answers from the last one. */
export async function showDemo({
  components,
  world,
  url,
  store,
  say,
  signal,
}: Stage): Promise<{ outcome: DemoOutcome; checks: Report[] }> {
  // Make the earlier releases and the current one.
  for (const weeks of [...EARLIER_RELEASES_WEEKS, undefined]) {
    const asOf = weeks === undefined ? undefined : before(world, weeks)
    say(asOf ? `fvs release --as-of ${asOf.toISOString()}` : 'fvs release')
    await runRelease(components, { asOf })
  }
  const release = await currentRelease(components.store)
  const { questions, resolved, submissions, forecasts } = simulateHistory(world)
  const open = questions.slice(resolved.length)
  // Read the current one as a client does.
  say('fvs keys create --tier pro')
  const pro = { tier: 'pro', monthly_calls: null } as const
  const apiKey = await components.registry.createClientKey('the demo', components.now(), pro)
  say('POST /verification/bulk, once the release is served')
  const served = { url, apiKey, release, signal }
  const agents = await rankedEntities(served, 'agent', agentsOf(world))
  const forecasters = await rankedEntities(served, 'forecaster', people())
  const owners = await pMap(Object.values(OWNERS), (id) => servedOwner(url, id))
  // Show that a late forecast is refused.
  say('POST /agents/register, and a forecast that comes too late')
  const refusal = await refusalOfLate(url, open[0]!.questionId, resolved.at(-1)!.questionId)
  // Verify a record, its proof and the whole release.
  const target = `${url}/agents/${agents[0]!.id}/verification`
  say(`fvs verify ${target}`)
  const verification = await runVerify(components.own, target, { environment: 'sandbox' }, components.now())
  const vkey = components.signers.map(({ verifier }) => verifierKeyText(verifier))
  say(`fvs verify ${target} --vkey ${vkey.join()}`)
  const proof = await runVerifyProof(target, { vkey, witness: [] })
  say('fvs audit')
  const audit = await runAudit(components, release)
  say('done')
  const data = components.store.url
  const outcome = {
    simulated: true as const,
    seed: SEED,
    url,
    store,
    data: data.startsWith('file:') ? fileURLToPath(data) : data,
    questions: { asked: resolved.length, weeks: WEEKS, open: open.length },
    forecasts: { submitted: submissions.length, imported: forecasts.length },
    refusal,
    open_question_id: open[0]!.questionId,
    release,
    agents,
    forecasters,
    owners,
    verification: verification.json,
    proof: proof.json,
    audit: audit.json,
  }
  return { outcome, checks: [verification, proof, audit] }
}

function before({ started_at }: Simulation, weeks: number): Date {
  return new Date(Date.parse(started_at) - weeks * WEEK_MS)
}

function agentsOf(world: Simulation): Entrant[] {
  return SIMULATED_AGENTS.map((agent, place) => ({ ...agent, id: agentIdIn(world, place) }))
}

function people(): Entrant[] {
  return PEOPLE.map(({ userId, name, noise, news }) => ({
    id: userId,
    name,
    traits: `simulated: noise ${noise.toFixed(2)}${news === undefined ? '' : ', much news of its own'}`,
    owner: null,
  }))
}
