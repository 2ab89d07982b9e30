// An entity on the question under way: its integrals, and the scores that follow from them.
import type { ColumnKinds, Columns } from '../../schemas/columns.ts'
import { PPM } from './logarithm.ts'
import type { PAIR_COLUMNS } from './pairs.ts'
import { PICO, roundHalfEven } from './round.ts'

/** Convert 1e-9 nats to 1e-12 of a baseline or peer score: 100/ln 2 · 1e-9 · 1e12 and 100 · 1e-9 · 1e12. */
const BASELINE_PICO_PER_NANO = 1e5 / Math.LN2
const PEER_PICO_PER_NANO = 1e5

/** Stands for the probability of a withdrawal. */
export const WITHDRAWN = -1

/** The lean of an entity that was never measured by enough others. */
export const NO_LEAN = 2 * PICO

/** The integrals of a yardstick's error and of its square over the judged instants. */
export interface YardstickIntegrals {
  error: number
  square: number
}

/** One entity on the question: its current forecast, and its integrals over the time that it has held. */
export class Participant {
  entity = 0
  isVoice = false
  /** Whether a forecast of its stands. */
  isCurrent = false
  heldMs = 0
  sinceMs = 0
  /** The last forecast or withdrawal, its time, and whether it has been counted. */
  ppm = 0
  madeAtMs = 0
  isCounted = true
  /** |p − o| of the current forecast in parts per million, and its −ln q̃ in 1e-9. */
  error = 0
  nanoNats = 0
  /**
   * The error of its own voice or its owner's, which its yardstick leaves out; −1 if there is none to leave
   * out.
   */
  leftOut = -1
  /** The next agent of the same owner on this question, by its slot; −1 for none. */
  nextSibling = -1
  /** Its place in each series of numbers of voices: that of the next judged span. */
  peakPlace = 0
  pricedPeakPlace = 0
  // Integrals over milliseconds: squared errors in 1e-12, nats in 1e-9, |2p − 1| and errors in parts per
  // million.
  brier = 0
  log = 0
  peer = 0
  conviction = 0
  /** This integral and all below run over the judged instants alone. */
  judgedMs = 0
  own = 0
  ownOther = 0
  readonly average: YardstickIntegrals = { error: 0, square: 0 }
  readonly median: YardstickIntegrals = { error: 0, square: 0 }
  readonly market: YardstickIntegrals = { error: 0, square: 0 }
  pricedMs = 0
  /** Integrals over the time with enough others: of 1, and of p − their average. */
  measuredMs = 0
  lean = 0
  /** The greatest number of others. */
  voices = 0
  /** The forecasts that count, with the first and the last of them. */
  forecasts = 0
  firstAtMs = 0
  lastAtMs = 0
  lastPpm = 0
  /** 1 while all its forecasts are witnessed. */
  witnessed = 1
  moved = 0
  toward = 0

  enter(entity: number, asVoice: boolean): void {
    this.entity = entity
    this.isVoice = asVoice
    this.isCurrent = false
    this.isCounted = true
    this.leftOut = this.nextSibling = -1
    this.brier = this.log = this.peer = this.conviction = this.heldMs = 0
    this.judgedMs = this.own = this.ownOther = this.pricedMs = this.measuredMs = this.lean = this.voices = 0
    for (const yardstick of [this.average, this.median, this.market]) yardstick.error = yardstick.square = 0
    this.forecasts = this.moved = this.toward = 0
    this.witnessed = 1
  }

  /** Counts the current forecast once it has stood for some time. */
  count(outcome: 0 | 1): void {
    this.isCounted = true
    if (this.forecasts === 0) this.firstAtMs = this.madeAtMs
    else {
      const move = this.ppm - this.lastPpm
      this.moved += Math.abs(move)
      this.toward += Math.max(0, outcome === 1 ? move : -move)
    }
    this.forecasts += 1
    this.lastAtMs = this.madeAtMs
    this.lastPpm = this.ppm
  }
}

/** The question's life, and what its integrals are divided by. */
export interface Life {
  /** T. */
  lifeMs: number
  /** D. */
  divisor: number
}

/** The integrals of a participant for titles. */
export type JudgedParticipant = Pick<
  Participant,
  'judgedMs' | 'own' | 'ownOther' | 'average' | 'median' | 'market' | 'pricedMs'
>

/** The columns of this part. */
export const JUDGED_COLUMNS = {
  judged: 'int32',
  priced: 'int32',
  judged_brier: 'double',
  judged_brier_if_other: 'double',
  average_brier: 'double',
  average_brier_if_other: 'double',
  median_brier: 'double',
  median_brier_if_other: 'double',
  market_brier: 'double',
  market_brier_if_other: 'double',
} as const satisfies ColumnKinds

export function writeJudged(
  columns: Columns<typeof JUDGED_COLUMNS>,
  row: number,
  { judgedMs, own, ownOther, average, median, market, pricedMs }: JudgedParticipant,
  { lifeMs, divisor }: Life,
): void {
  // Squared parts per million are 1e-12. Since (1 − x)² = 1 − 2x + x², the error for the other outcome needs
  // only the mean error besides.
  const nano = (integral: number) => roundHalfEven(roundHalfEven(integral / (lifeMs * divisor)) / 1e3)
  const other = ({ error, square }: YardstickIntegrals) => nano(PICO * judgedMs - 2 * PPM * error + square)
  columns.judged[row] = judgedMs > 0 ? 1 : 0
  columns.priced[row] = pricedMs > 0 ? 1 : 0
  columns.judged_brier[row] = nano(own)
  columns.judged_brier_if_other[row] = nano(ownOther)
  columns.average_brier[row] = nano(average.square)
  columns.average_brier_if_other[row] = other(average)
  columns.median_brier[row] = nano(median.square)
  columns.median_brier_if_other[row] = other(median)
  columns.market_brier[row] = nano(market.square)
  columns.market_brier_if_other[row] = other(market)
}

/** Writes the scores that follow from a participant's integrals. */
export function writeScores(
  columns: Columns<typeof PAIR_COLUMNS>,
  row: number,
  participant: Participant,
  life: Life,
): void {
  const { heldMs, measuredMs } = participant
  const { lifeMs } = life
  columns.entity[row] = participant.entity
  columns.coverage[row] = roundHalfEven((heldMs / lifeMs) * PICO)
  columns.brier[row] = roundHalfEven(participant.brier / heldMs)
  columns.log_score[row] = roundHalfEven((participant.log / heldMs) * 1e3)
  columns.baseline_score[row] = roundHalfEven(
    (100 * PICO * heldMs - BASELINE_PICO_PER_NANO * participant.log) / lifeMs,
  )
  columns.peer_score[row] = roundHalfEven((PEER_PICO_PER_NANO * participant.peer) / lifeMs)
  columns.judged_coverage[row] = roundHalfEven((participant.judgedMs / lifeMs) * PICO)
  writeJudged(columns, row, participant, life)
  columns.voices[row] = participant.voices
  columns.lean[row] = measuredMs === 0 ? NO_LEAN : roundHalfEven((participant.lean / measuredMs) * 1e6)
  columns.forecasts[row] = participant.forecasts
  columns.first_at[row] = participant.firstAtMs
  columns.last_at[row] = participant.lastAtMs
  columns.closing_probability[row] = participant.isCurrent ? participant.ppm : WITHDRAWN
  columns.witnessed[row] = participant.witnessed
  columns.conviction[row] = roundHalfEven((participant.conviction / heldMs) * 1e6)
  columns.moved[row] = participant.moved
  columns.toward[row] = participant.toward
}
