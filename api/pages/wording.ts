// Numbers, times and names as pages write them.
import { type Html, html } from './html.ts'

/** What stands where there is no value. */
export const NONE = '–'
const MINUS = '\u2212'
const NARROW = '\u202f'

/** A number with its sign, as in +0.203 and −0.052. */
export function signed(value: number | null, decimals = 3): string {
  if (value === null) return NONE
  const text = Math.abs(value).toFixed(decimals)
  if (Number(text) === 0) return text
  return (value < 0 ? MINUS : '+') + text
}

/** A number that is never negative, as in 0.130. */
export function plain(value: number | null, decimals = 3): string {
  return value === null ? NONE : value.toFixed(decimals).replace('-', MINUS)
}

/** A whole number, in groups of three digits from five digits on. */
export function counted(value: number): string {
  const text = String(value)
  return text.length < 5 ? text : text.replace(/\B(?=(\d{3})+$)/g, NARROW)
}

/** A share from 0 to 1 as a percentage, as in 70 %. */
export function percent(share: number | null, decimals = 0): string {
  return share === null ? NONE : `${(share * 100).toFixed(decimals)}${NARROW}%`
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

/** As in 1 question, 2 questions. */
export function quantity(value: number, one: string, many = `${one}s`): string {
  return `${counted(value)} ${value === 1 ? one : many}`
}

/** An instant to the minute. */
export function time(instant: string | Date): Html {
  const iso = typeof instant === 'string' ? instant : instant.toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)}&nbsp;UTC</time>`
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
