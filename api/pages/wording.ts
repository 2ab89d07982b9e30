// Writes values of payloads for pages: numbers with fixed decimals, instants in UTC, intervals, ranks, titles
// in words and in shapes, and names, which are only claims.
import { DOMAIN_OWNER } from '../../schemas/names.ts'
import type { Title } from '../../schemas/payloads.ts'
import { type Html, html } from './html.ts'

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

/** Shapes tell titles apart without colour or picture. */
const SHAPES: Record<Title, string> = {
  none: '–',
  measured: '○',
  certified: '✓',
}

/** An award in an entry of a release. */
type Award = { certification: Title } | { badge: Title }

export function titleOf(award: Award): Title {
  return 'certification' in award ? award.certification : award.badge
}

/** Returns words such as “no title” and “certified”. */
export function titleInWords(title: Title): string {
  return title === 'none' ? 'no title' : title
}

export function shapeText(title: Title): string {
  return SHAPES[title]
}

/** Returns the shape of a title, hidden from screen readers because the word next to it says the same. */
export function shapeOf(title: Title): Html {
  return html`<span class="shape" aria-hidden="true">${SHAPES[title]}</span>`
}

/** Returns a shape with its word, such as “✓ certified”. */
export function awarded(award: Award): Html {
  return awardedTitle(titleOf(award))
}

export function awardedTitle(title: Title): Html {
  return html`<span class="award award-${title}">${shapeOf(title)} ${titleInWords(title)}</span>`
}

export function nothingScored(nextReleaseAt: Date | undefined): Html {
  return html`Nothing has been scored yet. ${nextRelease(nextReleaseAt)}`
}

/** Returns nothing if this node does not know. */
export function nextRelease(at: Date | undefined): Html {
  return html`${at && html`The next release is due at ${time(at)} at the earliest.`}`
}
