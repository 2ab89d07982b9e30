// Renders the method as a page, from the same Markdown that the service publishes.
import { type Html, html } from './html.ts'
import { page } from './layout.ts'
import { type Site, linkTo } from './site.ts'

export async function methodologyPage(site: Site, text: string): Promise<Html> {
  // The parser of Markdown is large, and this page is rendered once.
  const { documentOf } = await import('./markdown.ts')
  const { title, sections, content } = documentOf(text)
  return page({
    site,
    title,
    description:
      'How forecasts are scored, completely: anyone with the data gets the published numbers to the last digit.',
    path: '/view/methodology',
    kind: 'article',
    alternates: { 'text/markdown': '/methodology' },
    content: html`<p class="lead">The whole method, for readers who check it. <a href="${linkTo(site, '/view/how')}">How it works</a> has it in five sentences.</p>
<nav class="contents" aria-label="Contents"><ol>
${sections.filter(({ level }) => level === 2).map(({ anchor, heading }) => html`<li><a href="#${anchor}">${heading.replace(/^[0-9]+\. /, '')}</a></li>\n`)}</ol></nav>
<article class="document">
${content}</article>`,
    source: html`The same in <a href="${linkTo(site, '/methodology')}">Markdown</a>, its <a href="${linkTo(site, '/methodology/version')}">version and parameters</a> as JSON`,
  })
}
