// Renders the project's own Markdown as HTML that fits a page: links can lead to its headings, and its tables
// scroll.
import MarkdownIt, { type Token } from 'markdown-it'
import { Html, html } from './html.ts'

const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false })

/** A heading that links can lead to. */
export interface Section {
  anchor: string
  heading: string
  /** 2 for an `h2`. */
  level: number
}

/**
 * Renders a document without its first heading, which is the page's. Links to other documents of the
 * repository become plain text, because the service does not serve them.
 */
export function documentOf(text: string): { title: string; sections: Section[]; content: Html } {
  const tokens = markdown.parse(text, {})
  const [title, body] = withoutTitle(tokens)
  const seen = new Map<string, number>()
  const sections: Section[] = []
  let heading = title
  let tables = 0
  for (const [index, token] of body.entries()) {
    if (token.type === 'heading_open') {
      heading = plainText(body[index + 1])
      const anchor = anchorOf(heading, seen)
      token.attrSet('id', anchor)
      sections.push({ anchor, heading, level: Number(token.tag.slice(1)) })
    }
    if (token.type === 'inline') token.children = withoutOtherDocuments(token.children ?? [])
    if (token.type === 'table_open') {
      tables += 1
      token.meta = { name: `Table ${tables}: ${heading}` }
    }
  }
  return { title, sections, content: new Html(markdown.renderer.render(body, markdown.options, {})) }
}

/** Renders a description of a few paragraphs, without headings and tables. */
export function paragraphsOf(text: string): Html {
  const tokens = markdown.parse(text, {})
  for (const token of tokens) token.children &&= withoutOtherDocuments(token.children)
  return new Html(markdown.renderer.render(tokens, markdown.options, {}))
}

/** Renders a description of one paragraph. */
export function inlineMarkdown(text: string): Html {
  const [token] = markdown.parseInline(text, {})
  return new Html(
    markdown.renderer.renderInline(withoutOtherDocuments(token?.children ?? []), markdown.options, {}),
  )
}

markdown.renderer.rules['table_open'] = (tokens, index) =>
  html`<div class="scroll" tabindex="0" role="region" aria-label="${(tokens[index]!.meta as { name: string }).name}"><table>\n`
    .text
markdown.renderer.rules['table_close'] = () => '</table></div>\n'

function withoutTitle(tokens: Token[]): [title: string, body: Token[]] {
  const [open, inline] = tokens
  if (open?.type !== 'heading_open' || open.tag !== 'h1') return ['Document', tokens]
  return [plainText(inline), tokens.slice(3)]
}

/** Returns the words of an inline token, without their marks. */
function plainText(inline: Token | undefined): string {
  return (inline?.children ?? []).map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('')
}

/** Returns the anchor that code hosts give to a heading, so that links within the document work. */
function anchorOf(heading: string, seen: Map<string, number>): string {
  const anchor = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')
  const before = seen.get(anchor) ?? 0
  seen.set(anchor, before + 1)
  return before === 0 ? anchor : `${anchor}-${before}`
}

function withoutOtherDocuments(children: readonly Token[]): Token[] {
  let isDropped = false
  return children.filter((token) => {
    if (token.type === 'link_open') isDropped = !/^(#|https?:)/.test(String(token.attrGet('href')))
    if (token.type === 'link_open' || token.type === 'link_close') return !isDropped
    return true
  })
}
