// Adds up the errors of the others in the judged part of a participant's time (METHODOLOGY §2).
import type { IntegralName } from './field.ts'
import { PPM } from './logarithm.ts'
import type { Participant, YardstickIntegrals } from './participant.ts'

/** How much an integral of the field has grown while the participant's forecast stood. */
export type Growth = (name: IntegralName) => number

/**
 * Adds and returns the time in which its forecast stood beside enough others. `most` is the greatest number
 * of others.
 */
export function addOthers(
  participant: Participant,
  since: Growth,
  most: number,
  outcome: 0 | 1,
  hasPrices: boolean,
): number {
  const { error, average, median, market } = participant
  const isLeftOut = participant.leftOut >= 0
  const judgedMs = since(isLeftOut ? 'time' : 'allTime')
  const mean = meanOfOthers(participant, since)
  const lean = error * judgedMs - mean.error
  participant.measuredMs += judgedMs
  participant.lean += outcome === 1 ? -lean : lean
  add(average, mean)
  median.error += since(isLeftOut ? 'median' : 'allMedian')
  median.square += since(isLeftOut ? 'medianSquare' : 'allMedianSquare')
  add(market, hasPrices ? meanOfUnpriced(participant, since) : mean)
  participant.voices = Math.max(participant.voices, most)
  return judgedMs
}

/**
 * Adds the time in which a price stood. `most` is the greatest number of others in that time. Returns the
 * part without enough others.
 */
export function addPriced(participant: Participant, since: Growth, pricedMs: number, most: number): number {
  const { average, median, market } = participant
  const isLeftOut = participant.leftOut >= 0
  const alone = isLeftOut
    ? { error: since('alonePrice'), square: since('alonePriceSquare') }
    : { error: since('allAlonePrice'), square: since('allAlonePriceSquare') }
  participant.pricedMs += pricedMs
  add(average, alone)
  add(median, alone)
  add(market, { error: since('price'), square: since('priceSquare') })
  participant.voices = Math.max(participant.voices, most)
  return since(isLeftOut ? 'aloneTime' : 'allAloneTime')
}

/** Adds the participant's own errors, by either outcome, over all of its judged time. */
export function addOwn(participant: Participant, judgedMs: number): void {
  const { error } = participant
  participant.judgedMs += judgedMs
  participant.own += error * error * judgedMs
  participant.ownOther += (PPM - error) * (PPM - error) * judgedMs
}

/** The integrals of the error of the others' average, and of its square: (S − x)/P with x left out. */
function meanOfOthers({ leftOut }: Participant, since: Growth): YardstickIntegrals {
  if (leftOut < 0) return { error: since('allMean'), square: since('allSquare') }
  return {
    error: since('mean') - leftOut * since('share'),
    square: since('square') - 2 * leftOut * since('cross') + leftOut * leftOut * since('shareSquare'),
  }
}

/** The same while no price stands. */
function meanOfUnpriced({ leftOut }: Participant, since: Growth): YardstickIntegrals {
  if (leftOut < 0) return { error: since('allUnpricedMean'), square: since('allUnpricedSquare') }
  return {
    error: since('unpricedMean') - leftOut * since('unpricedShare'),
    square:
      since('unpricedSquare') -
      2 * leftOut * since('unpricedCross') +
      leftOut * leftOut * since('unpricedShareSquare'),
  }
}

function add(to: YardstickIntegrals, { error, square }: YardstickIntegrals): void {
  to.error += error
  to.square += square
}
