// Writes values of payloads for pages: intervals, ranks, times, and names, which are only claims.
import { DOMAIN_OWNER } from '../../schemas/names.ts'
import { type Html, html } from './html.ts'
import { grouped, minuteOf, signed } from './numbers.ts'

/** The sign for a missing value. */
export const NONE = '–'

/** Writes a number, or a dash for none. */
export function orNone(value: number | null, written: (value: number) => string): string {
  return value === null ? NONE : written(value)
}

/** Writes an interval, as in +0.136 to +0.270. */
export function interval(bounds: { lower: number; upper: number } | null, decimals = 3): string {
  return bounds === null ? NONE : `${signed(bounds.lower, decimals)} to ${signed(bounds.upper, decimals)}`
}

/** Writes the places that the bars leave open, as in 2–3, or the only one. */
export function places({ lower, upper }: { lower: number; upper: number }): string {
  return lower === upper ? grouped(lower) : `${grouped(lower)}–${grouped(upper)}`
}

/** Writes an instant to the minute. */
export function time(instant: string | Date): Html {
  const iso = typeof instant === 'string' ? instant : instant.toISOString()
  return html`<time datetime="${iso}">${minuteOf(iso)}</time>`
}

/** Writes the day of an instant. */
export function dayOf(instant: string | Date): Html {
  const iso = typeof instant === 'string' ? instant : instant.toISOString()
  return html`<time datetime="${iso.slice(0, 10)}">${iso.slice(0, 10)}</time>`
}

/** Isolates a user's text, so that its direction of writing ends with it. */
export function named(name: string): Html {
  return html`<bdi>${name}</bdi>`
}

/** Does the same as `named` where no markup can stand, such as in the title of a mark in a chart. */
export function isolated(text: string): string {
  return `\u2068${text}\u2069`
}

const END_OF_ID = 6

/** Shows the end of an id, because ids made at about the same time differ only there. */
export function endOf(id: string): Html {
  return html`<code class="id" title="${id}">…${id.slice(-END_OF_ID)}</code>`
}

/** Shows a registered name with the end of the id, because anyone can claim a name. */
export function claimed(name: string | null, id: string): Html {
  return name === null
    ? html`<span class="mute">without a name</span> ${endOf(id)}`
    : html`${named(name)} ${endOf(id)}`
}

/** Says how it is known that an owner answers for agents. */
export function ownerWord(ownerId: string): string {
  return ownerId.startsWith(DOMAIN_OWNER) ? 'proved by its domain' : 'as the operator recorded'
}
