// How much of a property or of a list is tried: a quarter in the project `unit`, all in `exhaustive`.
const ALL = process.env['ALL_RUNS'] !== undefined
/** Which quarter of a list. */
const SEED = Math.floor(Math.random() * 4)

export const runs = (all: number): number => (ALL ? all : Math.ceil(all / 4))

/** The quarter of a list that the seed of this process chooses, or all of it. */
export const sample = <T>(all: readonly T[]): readonly T[] =>
  ALL ? all : all.filter((_, index) => index % 4 === SEED % Math.min(4, all.length))
