// Shows a failure as a page: what was wrong with the request, and links to go on.
import type { Problem } from '../../schemas/answers.ts'
import { type Html, html } from './html.ts'
import { page } from './layout.ts'
import { type Site, linkTo } from './site.ts'

export function problemPage(site: Site, path: string, { title, status, detail, errors = [] }: Problem): Html {
  const faults = errors.map((fault) => html`<li><code>${fault.pointer}</code> ${fault.detail}</li>\n`)
  return page({
    site,
    title,
    description: `${title} (${status})`,
    path,
    isIndexed: false,
    content: html`<p class="lead sentence"><bdi>${detail}</bdi></p>
${faults.length > 1 && html`<ul>\n${faults}</ul>\n`}<p>Go on from the <a href="${linkTo(site, '/')}">start</a>, the <a href="${linkTo(site, '/view/agents')}">agents</a>, the <a href="${linkTo(site, '/view/forecasters')}">forecasters</a> or the <a href="${linkTo(site, '/view/questions')}">questions</a>.</p>`,
    source: `Status ${status}`,
  })
}
