// Goldens of pages: whole, or of a page whose like is kept whole only what it says otherwise.
import { diff } from 'node:util'

/** A page without what changes with every change of its style and its scripts. */
export function steady(page: string): string {
  return page
    .replaceAll(/\/assets\/[0-9a-f]+\//g, '/assets/HASH/')
    .replaceAll(/[0-9a-f]{64}(?= {2}verify\.)/g, 'HASH')
}

interface Part {
  /** Lines that both pages have. */
  same: string[]
  /** The number of lines after them that only the whole page has. */
  gone: number
  /** The lines in their place. */
  added: string[]
}

/**
 * The lines of a page that the whole page lacks. A head before them tells how many lines both have up to there,
 * with the last of them, and how many lines of the whole page they replace. The page follows from this text and
 * the whole page: two pages never differ from it in the same way.
 */
export function differenceFrom(whole: string, page: string): string {
  const parts: Part[] = [{ same: [], gone: 0, added: [] }]
  for (const [step, line] of diff(page.split('\n'), whole.split('\n'))) {
    let part = parts.at(-1)!
    const isOpen = part.gone === 0 && part.added.length === 0
    if (step === 0 && !isOpen) parts.push((part = { same: [], gone: 0, added: [] }))
    if (step === 0) part.same.push(line)
    else if (step < 0) part.gone += 1
    else part.added.push(line)
  }
  return parts.map(textOf).join('')
}

const SHOWN_LENGTH = 80

function textOf({ same, gone, added }: Part): string {
  const place = same.findLast((line) => line !== '') ?? ''
  const head = `@@ ${same.length} the same, to ${place.slice(0, SHOWN_LENGTH)}; then -${gone}\n`
  return head + added.map((line) => `+${line}\n`).join('')
}
