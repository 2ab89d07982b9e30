// The forecasts that a node holds in memory: the last of each agent on each question that is not over.
import { setImmediate as othersHaveRun } from 'node:timers/promises'

export interface HeldForecast {
  forecast_id: string
  /** Null for a withdrawal, which is held so that no earlier forecast comes back. */
  probability: number | null
  atMs: number
}

/** The forecasts that are checked in one go, while no call is served. */
const FORECASTS_AT_ONCE = 20_000

export class HeldForecasts {
  readonly #byAgent = new Map<string, Map<string, HeldForecast>>()
  readonly #agentsOn = new Map<string, number>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Returns an agent's forecasts, by their questions. */
  forecastsOf(agentId: string): ReadonlyMap<string, HeldForecast> {
    return this.#byAgent.get(agentId) ?? new Map()
  }

  /** Returns the number of agents with a forecast on a question. */
  agentsOn(questionId: string): number {
    return this.#agentsOn.get(questionId) ?? 0
  }

  /**
   * Takes a forecast in, unless a later one is held. Any order and any number of repetitions have the same
   * result.
   */
  take(agentId: string, questionId: string, forecast: HeldForecast): void {
    let own = this.#byAgent.get(agentId)
    if (!own) this.#byAgent.set(agentId, (own = new Map()))
    const held = own.get(questionId)
    if (held && !isLater(forecast, held)) return
    own.set(questionId, forecast)
    if (!held) this.#size += 1
    const change = standing(forecast) - standing(held)
    if (change !== 0) this.#agentsOn.set(questionId, this.agentsOn(questionId) + change)
  }

  /** Drops the forecasts on questions that are over. */
  async drop(isOver: (questionId: string) => boolean): Promise<void> {
    let looked = 0
    for (const [agentId, own] of this.#byAgent) {
      for (const questionId of own.keys()) {
        if (isOver(questionId)) {
          own.delete(questionId)
          this.#agentsOn.delete(questionId)
          this.#size -= 1
        }
        looked += 1
        if (looked % FORECASTS_AT_ONCE === 0) await othersHaveRun()
      }
      if (own.size === 0) this.#byAgent.delete(agentId)
    }
  }
}

/** 1 for a forecast, 0 for a withdrawal and for nothing. */
function standing(held: HeldForecast | undefined): 0 | 1 {
  return held === undefined || held.probability === null ? 0 : 1
}

/** In the order in which forecasts count (METHODOLOGY §1). */
function isLater(one: HeldForecast, other: HeldForecast): boolean {
  if (one.atMs !== other.atMs) return one.atMs > other.atMs
  return one.forecast_id > other.forecast_id
}
