// The words of a page as a reader gets them, without markup.
import type { Html } from '../../../api/pages/html.ts'

const ENTITIES: Record<string, string> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
}

/** With single spaces, and without the head. */
export function textOf(page: Html): string {
  const body = page.text.replace(/^[^]*<body>/, '')
  const words = body.replace(/<[^>]*>/g, (tag) =>
    /^<\/?(bdi|a|strong|code|time|span|b)\b/.test(tag) ? '' : ' ',
  )
  return spaced(words.replace(/&[a-z#0-9]+;/g, (entity) => ENTITIES[entity]!))
}

export function spaced(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
