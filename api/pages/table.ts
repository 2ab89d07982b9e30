// Tables that scroll inside of themselves on a narrow screen, so that the page does not.
import { type Html, type HtmlPart, html } from './html.ts'

/**
 * Puts a `<table>` into a region that the keyboard can scroll.
 *
 * @param name says what the table holds; screen readers read it out, so no two on a page may be the same.
 */
export function scrolling(name: string, table: HtmlPart): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${name}">${table}</div>`
}
