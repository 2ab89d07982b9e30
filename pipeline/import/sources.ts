// The platforms whose files can be imported.
import type { ImportSource } from './source.ts'
import { fivethirtyeight } from './sources/fivethirtyeight.ts'
import { forecastbench } from './sources/forecastbench.ts'
import { gjp } from './sources/gjp.ts'
import { manifold } from './sources/manifold.ts'
import { metaculus } from './sources/metaculus.ts'
import { polymarket } from './sources/polymarket.ts'

export const SOURCES: readonly ImportSource[] = [
  metaculus,
  forecastbench,
  manifold,
  gjp,
  fivethirtyeight,
  polymarket,
]
