// Worlds in which skills and ranks are measured, not certificates: who gains by the choice of questions, and
// whether ranks and their intervals are true.
import type { Random } from '../../../jobs/sandbox/random.ts'
import { boardsOf, rankIn, tallyOf } from '../../../pipeline/scoring/ranking.ts'
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { NOISE, type Reader, drawOutcome, drawTruth, reading } from '../questions.ts'
import type { Study } from '../study.ts'

/** The log-odds beyond which a question counts as easy. */
const EASY = 1.5

/** Noise from the least to the greatest, evenly in its logarithm. */
const spread = (count: number, least: number, greatest: number): number[] =>
  Array.from({ length: count }, (_, i) => least * (greatest / least) ** (i / (count - 1)))

/**
 * Three equal twins among 20 strong and 20 weak peers, who mostly keep to a hall of their own. One twin
 * answers in the hall of the strong, one in that of the weak, one wherever it is easy. The skills after 400
 * questions.
 */
function chosenQuestions(random: Random): Record<string, number> {
  const twins = ['strong', 'weak', 'easy'].map(ownedAgent)
  const field = new SimulatedField([...twins, ...people(40)], [0, 1, 2])
  const peers = Array.from({ length: 40 }, (_, i): Reader & { hall: number } => ({
    entity: 3 + i,
    noise: i < 20 ? NOISE / 2 : NOISE * 2,
    hall: i < 20 ? 0 : 1,
  }))
  for (let question = 0; question < 400; question++) {
    const hall = question % 2
    const truth = drawTruth(random)
    const present: Reader[] = peers.filter((peer) => random() < (peer.hall === hall ? 0.8 : 0.2))
    present.push({ entity: hall, noise: NOISE })
    if (Math.abs(truth) > EASY) present.push({ entity: 2, noise: NOISE })
    field.ask({
      forecasts: present.map((reader) => reading(random, reader, truth)),
      outcome: drawOutcome(random, truth),
      cluster: question,
    })
  }
  const [strong, weak, easy] = [0, 1, 2].map((twin) => field.judge(twin).skill!)
  return { strong: strong!, weak: weak!, easy: easy! }
}

/**
 * Spearman's correlation of skill with true ability: sixty people, the better half mostly in one hall, and
 * sparse answers.
 */
function sparseAnswers(random: Random): Record<string, number> {
  const noises = spread(60, NOISE / 3, NOISE * 3)
  const field = new SimulatedField(people(60), noises.keys())
  for (let question = 0; question < 400; question++) {
    const hall = question % 2
    const truth = drawTruth(random)
    const present = noises
      .map((noise, entity) => ({ entity, noise }))
      .filter(({ entity }) => random() < (Math.floor(entity / 30) === hall ? 0.3 : 0.05))
    field.ask({
      forecasts: present.map((reader) => reading(random, reader, truth)),
      outcome: drawOutcome(random, truth),
      cluster: question,
    })
  }
  const judged = [...noises.keys()].map((entity) => ({ entity, ...field.judge(entity) }))
  const ranked = judged.filter(({ eligible }) => eligible).sort((a, b) => b.skill! - a.skill!)
  const truly = ranked.toSorted((a, b) => a.entity - b.entity)
  const n = ranked.length
  const squares = ranked.reduce((sum, one, place) => sum + (place - truly.indexOf(one)) ** 2, 0)
  return { correlation: 1 - (6 * squares) / (n * (n * n - 1)) }
}

/** The share of forty people whose interval of the rank holds the true rank, after 400 questions. */
function rankCoverage(random: Random): Record<string, number> {
  const noises = spread(40, NOISE / 2, NOISE * 2)
  const field = new SimulatedField(people(40), noises.keys())
  for (let question = 0; question < 400; question++) {
    const truth = drawTruth(random)
    const present = noises.map((noise, entity) => ({ entity, noise })).filter(() => random() < 0.7)
    field.ask({
      forecasts: present.map((reader) => reading(random, reader, truth)),
      outcome: drawOutcome(random, truth),
      cluster: question,
    })
  }
  const judged = [...noises.keys()].map((entity) => field.judge(entity))
  const board = judged.map((scores) => ({ isRetired: false, scores }))
  const boards = boardsOf(tallyOf(board))
  const held = board.filter((one, entity) => {
    const { lower, upper } = rankIn(boards, one).rank_interval!
    return lower <= entity + 1 && entity + 1 <= upper
  })
  return { coverage: held.length / judged.length }
}

const measures = (about: string, value: string, shown: 'share' | 'number' = 'number') => [
  { about, value, shown },
]

export const studies: Record<string, Study> = {
  choosers: {
    worlds: 60,
    quick: 8,
    simulate: chosenQuestions,
    titles: [],
    measures: [
      ...measures('skill of equal twins: one who chooses a strong field', 'strong'),
      ...measures('one who chooses a weak field', 'weak'),
      ...measures('one who chooses easy questions', 'easy'),
    ],
  },
  sparse: {
    worlds: 60,
    quick: 8,
    simulate: sparseAnswers,
    titles: [],
    measures: measures('rank correlation of skill with ability, sparse answers in two fields', 'correlation'),
  },
  ranks: {
    worlds: 60,
    quick: 4,
    simulate: rankCoverage,
    titles: [],
    measures: measures('coverage of the true rank by `rank_interval`', 'coverage', 'share'),
  },
}
