/** How often a property is tried: a quarter as often in the project `unit` as in `exhaustive`. */
export const runs = (all: number): number =>
  process.env['ALL_RUNS'] === undefined ? Math.ceil(all / 4) : all
