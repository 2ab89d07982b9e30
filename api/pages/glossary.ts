// The page of terms: what the words of the pages mean, each under an anchor of its own.
import { PICTURES } from './charts/term-pictures.ts'
import { type Html, html } from './html.ts'
import { page } from './layout.ts'
import { type Site, linkTo } from './site.ts'
import { TERMS } from './terms.ts'

export function glossaryPage(site: Site): Html {
  return page({
    site,
    title: 'Terms',
    description: 'What the words of these pages mean, in two sentences each, with what is good.',
    path: '/view/terms',
    kind: 'article',
    content: html`<p class="lead">What the words of these pages mean. Everything exactly, with formulas, stands in the <a href="${linkTo(site, '/view/methodology')}">method</a>.</p>
<ul class="ways">
${TERMS.map(([key, { word }]) => html`<li><a href="#${key}">${word}</a></li>\n`)}</ul>
${TERMS.map(
  ([key, { word, meaning, range }]) => html`<section class="entry" aria-labelledby="${key}">
<h2 id="${key}">${word}</h2>
<p><strong>${meaning[0]}</strong> ${meaning[1]}</p>
${range !== undefined && html`<p class="mute">${range}</p>\n`}${PICTURES[key]}
</section>
`,
)}`,
  })
}
