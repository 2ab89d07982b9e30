// Shows the titles that a release awards in words and in shapes, so that readers can tell them apart without
// colour or picture.
import type { Title } from '../../schemas/payloads.ts'
import { type Html, html } from './html.ts'

const SHAPES: Record<Title, string> = {
  none: '–',
  measured: '○',
  certified: '✓',
}

/** An award in an entry of a release. */
export type Award = { certification: Title } | { badge: Title }

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
