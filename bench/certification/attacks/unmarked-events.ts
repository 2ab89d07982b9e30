// Unmarked events: ten questions hang on one event, and each counts as a cluster of its own. They close in
// one week, or over several.
import { type Random, normal } from '../../../jobs/sandbox/random.ts'
import { ownedAgent, people } from '../entities.ts'
import { QUESTIONS_A_WEEK, SimulatedField } from '../field.ts'
import { type SimulatedQuestion, readers, reading, saying } from '../questions.ts'
import { PROMISED, type Range, type Study, dailyLooks } from '../study.ts'

const AT_ONCE = 10

/**
 * The agent leans one way on the ten, and the event decides them all. Its chance is between `least` and
 * `most`.
 */
function hanging(
  how: string,
  least: number,
  most: number,
  weeks: number,
  said: (p: number) => number,
  range: Range,
): Study {
  return {
    worlds: 200,
    quick: 12,
    withoutSkill: 'The agent knows no more of an event than its chance, which all know.',
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('judged'), ...people(20)], [0])
      let [chance, happens, lean] = [0, false, 1]
      return dailyLooks(field, (question): SimulatedQuestion => {
        if (question % AT_ONCE === 0) {
          chance = least + (most - least) * random()
          happens = random() < chance
          lean = said(chance) === chance ? (random() < 0.5 ? -1 : 1) : 0
        }
        return {
          ...questionOn(random, chance, lean === 0 ? said(chance) : chance + lean * 0.1),
          outcome: happens ? 1 : 0,
          cluster: question,
          week: weekOf(question, weeks),
        }
      })
    },
    titles: [{ how, value: 'certified', range }],
  }
}

/** Those of one event close in consecutive weeks, as many in each. */
function weekOf(question: number, weeks: number): number {
  const event = Math.floor(question / AT_ONCE)
  return (
    Math.floor((event * AT_ONCE) / QUESTIONS_A_WEEK) + Math.floor(((question % AT_ONCE) * weeks) / AT_ONCE)
  )
}

function questionOn(random: Random, chance: number, own: number) {
  const truth = Math.log(chance / (1 - chance))
  const peers = readers(20, 1).map((peer) => reading(random, { ...peer, noise: 0.2 }, truth, normal(random)))
  return { forecasts: [saying(0, random() / 2, Math.min(1, Math.max(0, own))), ...peers] }
}

const same = (p: number) => p

export const studies: Record<string, Study> = {
  rare: hanging('ten questions hang on one rare event, own ids, says 0', 0.02, 0.1, 1, () => 0, PROMISED),
  'one week': hanging(
    'ten questions hang on one event, own ids, closing within one week',
    0.25,
    0.75,
    1,
    same,
    PROMISED,
  ),
  'four weeks': hanging('the same, closing over four weeks', 0.25, 0.75, 4, same, {
    least: 0,
    most: 0.15,
    open: 'what decides the questions of one week decides those of later weeks',
  }),
  'ten weeks': hanging('the same, closing over ten weeks', 0.25, 0.75, 10, same, {
    least: 0.1,
    most: 0.45,
    open: 'what decides the questions of one week decides those of later weeks',
  }),
}
