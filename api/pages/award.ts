// The titles that a release awards, in words and in shapes, so that neither colour nor picture is needed to
// tell them apart.
import type { Badge, Certification } from '../../schemas/payloads.ts'
import { type Html, html } from './html.ts'

type Title = Certification | Badge

const SHAPES: Record<Title, string> = {
  none: '–',
  provisional: '○',
  certified: '✓',
  expert: '✓✓',
  bronze: '○',
  silver: '◐',
  gold: '✓',
  platinum: '✓✓',
}

/** An award as the entries of a release hold it. */
export type Award = { certification: Certification } | { badge: Badge }

export function titleOf(award: Award): Title {
  return 'certification' in award ? award.certification : award.badge
}

/** As in “no title” and “expert”. */
export function titleInWords(title: Title): string {
  return title === 'none' ? 'no title' : title
}

/** The shape is for the eye: the word beside it says the same. */
export function shapeOf(title: Title): Html {
  return html`<span class="shape" aria-hidden="true">${SHAPES[title]}</span>`
}

/** As in “✓✓ expert”. */
export function awarded(award: Award): Html {
  const title = titleOf(award)
  return html`<span class="award award-${title}">${shapeOf(title)} ${titleInWords(title)}</span>`
}
