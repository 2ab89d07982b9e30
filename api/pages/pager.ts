// The ways to the other pages of a list.
import { type HtmlPart, html } from './html.ts'
import { type Site, linkTo } from './site.ts'

export interface Pager {
  /** The first is 1. */
  pageNumber: number
  pages: number
  pathOf: (pageNumber: number) => string
}

/** Nothing where there is only one page. */
export function pager(site: Site, { pageNumber, pages, pathOf }: Pager): HtmlPart {
  if (pages < 2) return undefined
  const link = (number: number, words: string, rel: string) =>
    number >= 1 &&
    number <= pages &&
    html`<a rel="${rel}" href="${linkTo(site, pathOf(number))}">${words}</a>\n`
  return html`<nav class="pager" aria-label="More pages">
${link(pageNumber - 1, '← Page before', 'prev')}<span>Page ${pageNumber} of ${pages}</span>
${link(pageNumber + 1, 'Next page →', 'next')}</nav>`
}
