// The one way to make HTML and SVG: a template that escapes every value, so that a user's text stays text.

/** Markup that is safe to send as it is. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

/**
 * A value in a template. Text and numbers are escaped, markup stays, and null, undefined and false add
 * nothing.
 */
export type HtmlPart = string | number | Html | null | undefined | false | readonly HtmlPart[]

const HTML_ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for content and for attributes, which must be in quotes. */
function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => HTML_ENTITIES[character]!)
}

/** Tags a template literal: `` html`<b title="${title}">${name}</b>` ``. */
export function html(literals: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return new Html(literals.reduce((text, literal, index) => text + markupOf(parts[index - 1]) + literal))
}

/** Returns data as an element that browsers do not run, in which no text can end it. */
export function dataBlock(type: string, data: object): Html {
  const json = JSON.stringify(data).replaceAll('<', '\\u003c')
  return html`<script type="${type}">${new Html(json)}</script>`
}

function markupOf(part: HtmlPart): string {
  if (part === null || part === undefined || part === false) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(markupOf).join('')
  return escaped(String(part))
}

/**
 * Puts a `<table>` into a region that the keyboard can scroll.
 *
 * @param name says what the table holds; screen readers read it out, so no two on a page may be the same.
 */
export function scrolling(name: string, table: HtmlPart): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${name}">${table}</div>`
}
