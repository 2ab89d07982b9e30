// Writes numbers and instants for pages: with fixed decimals, with a sign if readers compare them with 0, in
// UTC.

/** Writes a number with its sign and a true minus: `+0.203`, `−0.052`; what rounds to zero has no sign. */
export function signed(value: number, decimals = 3): string {
  return `${isZero(value, decimals) || value < 0 ? '' : '+'}${plain(value, decimals)}`
}

/** Writes a number with a true minus if it is negative, also when rounded. */
export function plain(value: number, decimals = 3): string {
  return `${isZero(value, decimals) || value > 0 ? '' : '−'}${Math.abs(value).toFixed(decimals)}`
}

function isZero(value: number, decimals: number): boolean {
  return Number(value.toFixed(decimals)) === 0
}

/** Keeps a number and its unit on one line. */
const NO_BREAK = '\u00a0'

/** Writes a share as `70 %`. Only exactly 0 and 1 are written as 0 % and 100 %. */
export function percent(share: number, decimals = 0): string {
  const step = 10 ** -decimals
  const value = share * 100
  const written = (shown: number) => `${shown.toFixed(decimals)}${NO_BREAK}%`
  if (value > 0 && value < step / 2) return `<${NO_BREAK}${written(step)}`
  if (value < 100 && value >= 100 - step / 2) return `>${NO_BREAK}${written(100 - step)}`
  return written(value)
}

/** Writes a count with its noun: `1 question`, `2 questions`, `1,200 questions`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`
}

/** Writes a whole number with commas between its thousands. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** Writes an instant of a payload as `2026-11-21 21:46 UTC`. */
export function minuteOf(instant: string): string {
  return `${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC`
}
