// What payloads hold, as pages write it: intervals, ranks, times, and names as the claims that they are.
import { type Html, html } from './html.ts'
import { minuteOf, signed } from './numbers.ts'

/** What stands where there is no value. */
const NONE = '–'

/** A number as a page writes it, and a dash for none. */
export function orNone(value: number | null, written: (value: number) => string): string {
  return value === null ? NONE : written(value)
}

/** As in +0.136 to +0.270. */
export function interval(bounds: { lower: number; upper: number } | null, decimals = 3): string {
  return bounds === null ? NONE : `${signed(bounds.lower, decimals)} to ${signed(bounds.upper, decimals)}`
}

/** One rank, or the ranks between which it may lie, as in 1–4. */
export function ranks(of: { lower: number; upper: number } | null): string {
  if (of === null) return NONE
  return of.lower === of.upper ? String(of.lower) : `${of.lower}–${of.upper}`
}

/** An instant to the minute. */
export function time(instant: string | Date): Html {
  const iso = typeof instant === 'string' ? instant : instant.toISOString()
  return html`<time datetime="${iso}">${minuteOf(iso)}</time>`
}

/** The day of an instant. */
export function dayOf(instant: string | Date): Html {
  const iso = typeof instant === 'string' ? instant : instant.toISOString()
  return html`<time datetime="${iso.slice(0, 10)}">${iso.slice(0, 10)}</time>`
}

/** What somebody named: its direction of writing ends with it. */
export function named(name: string): Html {
  return html`<bdi>${name}</bdi>`
}

const END_OF_ID = 6

/** The end of an id: of ids made at about the same time, only the end differs. */
export function endOf(id: string): Html {
  return html`<code class="id" title="${id}">…${id.slice(-END_OF_ID)}</code>`
}

/** A name as registered with the end of the id, since a name is a claim that anyone can make. */
export function claimed(name: string | null, id: string): Html {
  return name === null
    ? html`<span class="mute">without a name</span> ${endOf(id)}`
    : html`${named(name)} ${endOf(id)}`
}
