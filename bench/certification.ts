// How often is an agent without skill certified? Simulated questions of known probability, scored, ranked and
// certified by the service's own code. Deterministic; prints a Markdown table. Run: npm run certification
import { type Random, logistic, normal, sfc32 } from '../jobs/simulation/random.ts'
import { wilsonInterval } from '../pipeline/scoring/calibration.ts'
import { METHODOLOGY } from '../pipeline/scoring/methodology.ts'
import { Rows } from '../pipeline/engine/rows.ts'
import { scoreEntity } from '../pipeline/scoring/entity.ts'
import { PPM } from '../pipeline/scoring/logarithm.ts'
import { PAIR_COLUMNS, SCORED_COLUMNS } from '../pipeline/scoring/pairs.ts'
import { type ForecastColumns, QuestionSweep } from '../pipeline/scoring/question.ts'
import { certificationOf, rankedSkill, standingIn, tallyOf } from '../pipeline/scoring/ranking.ts'

const SEED = 20_260_101
const HORIZON_MS = 30 * 86_400_000
const CHECKPOINTS = [50, 100, 200, 400] as const
/** Standard deviations, in log-odds: of the truth over questions, and of the error of a first and of a later reading. */
const TRUTH_SPREAD = 1.5
const FIRST_NOISE = 0.8
const UPDATE_NOISE = 0.5

/** What an entity says that reads the log-odds of a question as `reading`, in a field of this many others. */
type Voice = (reading: number, others: number, random: Random) => number

interface Scenario {
  name: string
  others: number
  /** The voice of the first entity; all others say what they read. Without one all are alike, and all are judged. */
  candidate?: Voice
  /** The part of the error's variance that all readers of a question share. */
  sharedNoise?: number
  /** Whether all enter at the same instant, so that the field is complete from the first forecast on. */
  enterTogether?: boolean
  worlds: number
}

const candid: Voice = (reading) => logistic(reading)

const SCENARIOS: readonly Scenario[] = [
  { name: 'as good as its 5 peers', others: 5, worlds: 1000 },
  { name: 'as good as its 20 peers', others: 20, worlds: 400 },
  { name: 'as good as its 100 peers', others: 100, worlds: 120 },
  {
    name: 'as good as its 20 peers, who share 90 % of their errors',
    others: 20,
    sharedNoise: 0.9,
    worlds: 400,
  },
  {
    // In the reference the house is one voice among as many others. One half is as rare here, so skill is exactly 0.
    name: 'as good as its reference: 20 peers and the house',
    others: 20,
    candidate: (reading, others, random) => (random() * (others + 1) < 1 ? 0.5 : logistic(reading)),
    enterTogether: true,
    worlds: 1000,
  },
  {
    name: 'overconfident: the log-odds of its 20 peers doubled',
    others: 20,
    candidate: (reading) => logistic(2 * reading),
    worlds: 300,
  },
  { name: 'random among 20 peers', others: 20, candidate: (_, _others, random) => random(), worlds: 300 },
]

/** One question: all enter in its first half, and one in two updates once, with a better reading. */
function ask(scenario: Scenario, random: Random): { columns: ForecastColumns; outcome: 0 | 1 } {
  const { others, candidate = candid, sharedNoise = 0, enterTogether = false } = scenario
  const truth = TRUTH_SPREAD * normal(random)
  const firstShared = Math.sqrt(sharedNoise) * normal(random)
  const updateShared = Math.sqrt(sharedNoise) * normal(random)
  const ownShare = Math.sqrt(1 - sharedNoise)
  const entry = () => (random() * HORIZON_MS) / 2
  const fieldEnteredMs = entry()
  const rows: { entity: number; atMs: number; ppm: number }[] = []
  for (let entity = 0; entity <= others; entity++) {
    const voice = entity === 0 ? candidate : candid
    const forecast = (atMs: number, noise: number, shared: number) => {
      const reading = truth + noise * (shared + ownShare * normal(random))
      rows.push({ entity, atMs: Math.floor(atMs), ppm: Math.round(PPM * voice(reading, others, random)) })
    }
    const enteredMs = enterTogether ? fieldEnteredMs : entry()
    forecast(enteredMs, FIRST_NOISE, firstShared)
    if (random() < 0.5) {
      forecast(enteredMs + random() * (HORIZON_MS - enteredMs), UPDATE_NOISE, updateShared)
    }
  }
  const count = rows.length
  // One number that holds both time and place is sorted many times faster than rows are.
  const keys = Float64Array.from(rows, ({ atMs }, i) => atMs * count + i).sort()
  const ordered = Array.from(keys, (key) => rows[key % count]!)
  const columns = {
    count,
    entity: Int32Array.from(ordered, ({ entity }) => entity),
    atMs: Float64Array.from(ordered, ({ atMs }) => atMs),
    ppm: Int32Array.from(ordered, ({ ppm }) => ppm),
    imported: new Int32Array(count),
  }
  return { columns, outcome: random() < logistic(truth) ? 1 : 0 }
}

/** Adds the pairs of a question to those of each entity. */
function addPairs(
  pairs: Rows<typeof PAIR_COLUMNS>,
  outcome: 0 | 1,
  to: readonly Rows<typeof SCORED_COLUMNS>[],
): void {
  for (let row = 0; row < pairs.rowCount; row++) {
    const own = to[pairs.columns.entity[row]!]!
    for (const [name, column] of Object.entries(own.columns)) {
      column[own.row] = name === 'outcome' ? outcome : pairs.columns[name as keyof typeof PAIR_COLUMNS][row]!
    }
    own.next()
  }
}

/**
 * The mean of a share that was measured once in each world, in per cent with a 95 % Wilson interval. Entities of one
 * world are not independent, so n is the effective sample size, which follows from the spread between worlds (Kish 1965).
 */
function percent(shares: readonly number[]): string {
  const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const mean = meanOf(shares)
  const variance = meanOf(shares.map((share) => share * share)) - mean * mean
  const n = variance > 0 ? (mean * (1 - mean) * shares.length) / variance : shares.length
  const [lower, upper] = wilsonInterval(mean, n, METHODOLOGY.parameters.interval_z)
  const [share, from, to] = [mean, lower, upper].map((value) => (100 * value).toFixed(1))
  return `${share} (${from}–${to})`
}

function simulate(scenario: Scenario, stream: number) {
  const { others, candidate, worlds } = scenario
  const tallies = CHECKPOINTS.map((questions) => ({
    questions,
    certified: [] as number[],
    expert: [] as number[],
    skill: 0,
  }))
  const sweep = new QuestionSweep(METHODOLOGY, others + 1)
  const pairs = new Rows(PAIR_COLUMNS)
  const random = sfc32(SEED, stream)
  for (let world = 0; world < worlds; world++) {
    const taken = Array.from({ length: others + 1 }, () => new Rows(SCORED_COLUMNS))
    let asked = 0
    for (const tally of tallies) {
      for (; asked < tally.questions; asked++) {
        const { columns, outcome } = ask(scenario, random)
        const question = { openedAtMs: 0, closesAtMs: HORIZON_MS, resolvedAtMs: HORIZON_MS, outcome }
        pairs.clear()
        sweep.run(asked, question, columns, pairs)
        addPairs(pairs, outcome, taken)
      }
      const scores = taken.map((rows) => scoreEntity(METHODOLOGY, rows))
      const skills = scores.map((score) => rankedSkill(score))
      const field = tallyOf(skills)
      const judged = candidate === undefined ? scores : scores.slice(0, 1)
      const earned = judged.map((score, i) =>
        certificationOf(METHODOLOGY, score, standingIn(field, skills[i]!)),
      )
      const expert = earned.filter((certification) => certification === 'expert').length
      const certified = earned.filter((certification) => certification === 'certified').length
      tally.certified.push((certified + expert) / judged.length)
      tally.expert.push(expert / judged.length)
      tally.skill += judged.reduce((sum, { skill }) => sum + skill!, 0) / judged.length / worlds
    }
  }
  return tallies
}

console.log('| an agent that is | worlds | questions | mean skill | certified or expert, % | expert, % |')
console.log('|---|---:|---:|---:|---:|---:|')
for (const [stream, scenario] of SCENARIOS.entries()) {
  const { name, worlds } = scenario
  for (const { questions, skill, certified, expert } of simulate(scenario, stream)) {
    const shares = `${percent(certified)} | ${questions < 100 ? '–' : percent(expert)}`
    console.log(`| ${name} | ${worlds} | ${questions} | ${skill.toFixed(4)} | ${shares} |`)
  }
}
