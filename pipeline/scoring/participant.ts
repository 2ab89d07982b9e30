// An entity on the question that is being swept: its integrals, and the numbers that come of them.
import type { RowSink } from '../../schemas/columns.ts'
import { PPM } from './logarithm.ts'
import type { PAIR_COLUMNS } from './pairs.ts'
import { PICO, roundHalfEven } from './round.ts'

/** Convert 1e-9 nats to 1e-12 of a baseline or peer score: 100/ln 2 · 1e-9 · 1e12 and 100 · 1e-9 · 1e12. */
const BASELINE_PICO_PER_NANO = 1e5 / Math.LN2
const PEER_PICO_PER_NANO = 1e5

/** The probability of a withdrawal, and of an entity whose forecast is withdrawn at the close. */
export const WITHDRAWN = -1

/** One entity on the question: its current forecast, and its integrals over the time that it has held. */
export class Participant {
  entity = 0
  isVoice = false
  /** Whether a forecast of its stands. */
  isCurrent = false
  /** The beginning of its first stretch; −1 before it. */
  startMs = -1
  heldMs = 0
  sinceMs = 0
  /** The last forecast, also where it is withdrawn. */
  ppm = 0
  /** |p − o| of the current forecast in parts per million, and its −ln q̃ in 1e-9. */
  error = 0
  nanoNats = 0
  /** The error of the voice that is left out for it, its own or its owner's; −1 where none is. */
  leftOut = -1
  /** The next agent of the same owner on this question, by its slot; −1 for none. */
  nextSibling = -1
  /** `heldMs` of its own voice; 0 where that did not come to this question. */
  ownVoiceMs = 0
  // Integrals over milliseconds: squared errors in 1e-12, nats in 1e-9, |2p − 1| and errors in parts per
  // million.
  brier = 0
  brierOther = 0
  reference = 0
  crowd = 0
  /** Of the mean error of the other voices. */
  mean = 0
  log = 0
  peer = 0
  conviction = 0
  forecasts = 0
  imported = 0
  /** 1 as long as all its forecasts are. */
  witnessed = 1
  moved = 0
  toward = 0
  highest = 0
  lowest = 0

  enter(entity: number, asVoice: boolean): void {
    this.entity = entity
    this.isVoice = asVoice
    this.isCurrent = false
    this.startMs = this.leftOut = this.nextSibling = -1
    this.brier = this.brierOther = this.reference = this.crowd = this.mean = 0
    this.log = this.peer = this.conviction = this.heldMs = 0
    this.forecasts = this.imported = this.moved = this.toward = 0
    this.witnessed = 1
  }
}

/** Writes what a participant's integrals come to, over the time that it held and over the question's life. */
export function writeScores(
  columns: RowSink<typeof PAIR_COLUMNS>['columns'],
  row: number,
  participant: Participant,
  horizonMs: number,
): void {
  const { heldMs, brier, reference, crowd, log, forecasts } = participant
  // (1 − x)² is 1 − 2x + x², so that the other outcome needs the mean error alone besides.
  const other = PICO * heldMs - 2 * PPM * participant.mean
  columns.entity[row] = participant.entity
  columns.coverage[row] = roundHalfEven((heldMs / horizonMs) * PICO)
  columns.brier[row] = roundHalfEven(brier / heldMs)
  columns.reference_brier[row] = roundHalfEven(reference / heldMs)
  columns.crowd_brier[row] = roundHalfEven(crowd / heldMs)
  columns.brier_part[row] = roundHalfEven(brier / horizonMs)
  columns.reference_part[row] = roundHalfEven(reference / horizonMs)
  columns.crowd_part[row] = roundHalfEven(crowd / horizonMs)
  columns.brier_other[row] = roundHalfEven(participant.brierOther / horizonMs)
  columns.reference_other[row] = roundHalfEven((other + reference) / horizonMs)
  columns.crowd_other[row] = roundHalfEven((other + crowd) / horizonMs)
  columns.log_score[row] = roundHalfEven((log / heldMs) * 1e3)
  columns.baseline_score[row] = roundHalfEven(
    (100 * PICO * heldMs - BASELINE_PICO_PER_NANO * log) / horizonMs,
  )
  columns.peer_score[row] = roundHalfEven((PEER_PICO_PER_NANO * participant.peer) / horizonMs)
  columns.forecasts[row] = forecasts
  columns.closing_probability[row] = participant.isCurrent ? participant.ppm : WITHDRAWN
  columns.imported[row] = participant.imported
  columns.witnessed[row] = participant.witnessed
  columns.conviction[row] = roundHalfEven((participant.conviction / heldMs) * 1e6)
  columns.moved[row] = participant.moved
  columns.toward[row] = participant.toward
  // (Σ|Δp| − (max − min)) / (k − 2), or −1 if k < 3. Source: Griffiths et al. 2019, doi:10.1002/met.1732.
  const wander = participant.moved - (participant.highest - participant.lowest)
  columns.flip_flop[row] = forecasts < 3 ? -1 : roundHalfEven((wander / (forecasts - 2)) * 1e6)
}
