// The findings of `fvs doctor`: a line for each check, with what to do.
export interface Finding {
  check: string
  /** `note` may stay as it is, `fault` must not. */
  state: 'ok' | 'note' | 'fault'
  detail: string
  /** Left out if there is nothing to do. */
  advice?: string
}

export const ok = (check: string, detail: string): Finding => ({ check, state: 'ok', detail })

export const note = (check: string, detail: string, advice: string): Finding => ({
  check,
  state: 'note',
  detail,
  advice,
})

export const fault = (check: string, detail: string, advice: string): Finding => ({
  check,
  state: 'fault',
  detail,
  advice,
})

const MINUTE_MS = 60_000
const UNITS = [
  [24 * 60 * MINUTE_MS, 'd'],
  [60 * MINUTE_MS, 'h'],
  [MINUTE_MS, 'min'],
] as const

/** Returns a span of time in its largest unit, such as `3 d`. */
export function spanOf(ms: number): string {
  const [unitMs, unit] = UNITS.find(([each]) => ms >= 2 * each) ?? [1000, 's']
  return `${Math.round(ms / unitMs)} ${unit}`
}
