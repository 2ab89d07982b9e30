// What a release of ten times as many forecasts takes, for each forecast, and how much memory.
import { run } from '../process.ts'
import type { ReleaseFigures } from '../release.ts'
import { byTurns } from '../turns.ts'
import { worldSize, worldStore } from '../world.ts'

export interface Volume {
  forecasts: number
  seconds: number
  cpuSeconds: number
  peakBytes: number
}

/** A release of a tenth of the forecasts, and of all of them. */
export function measureVolume(
  forecasts: number,
  turns: number,
): Promise<Record<'tenth' | 'whole', Volume>[]> {
  return byTurns({ tenth: () => released(forecasts / 10), whole: () => released(forecasts) }, turns)
}

async function released(forecasts: number): Promise<Volume> {
  const store = await worldStore(worldSize(forecasts))
  const figures = JSON.parse(await run('release.ts', store)) as ReleaseFigures
  const cpuSeconds = figures.phases.reduce((sum, phase) => sum + phase.cpuSeconds, 0)
  return { forecasts: figures.forecasts, seconds: figures.seconds, cpuSeconds, peakBytes: figures.peakBytes }
}
