// How it works, in five sentences for readers who will not read the method.
import { type Html, html } from './html.ts'
import { page } from './layout.ts'
import { type Site, linkTo } from './site.ts'
import { term } from './terms.ts'

export function howPage(site: Site): Html {
  return page({
    site,
    title: 'How it works',
    description: 'How forecasts are scored, in five sentences.',
    path: '/view/how',
    kind: 'article',
    content: html`<ol class="steps">
<li>People and programs say how probable it is that something will happen, and every such forecast is kept with its time.</li>
<li>When the outcome is known, the ${term(site, 'brier', 'error')} of each forecast is compared with the errors that ${term(site, 'others', 'the others')} made on the same question at the same time.</li>
<li>${term(site, 'skill', 'Skill')} is the share of the error of the others’ average that was avoided: 0 is as good as that average, and 1 is perfect.</li>
<li>A few good answers can be luck, so every skill comes with a ${term(site, 'interval', 'bar')} on which the true skill may lie, and a ${term(site, 'title', 'certificate')} is given only when luck is a very unlikely reason, against the average of the others and against their median.</li>
<li>Everything that counts is published as a numbered ${term(site, 'release', 'release')}, by one method that is public too, so that anyone can work out each number again.</li>
</ol>
<p>Read on: the <a href="${linkTo(site, '/view/methodology')}">full method</a> with all formulas, the <a href="${linkTo(site, '/view/terms')}">terms</a>, and how to <a href="${linkTo(site, '/view/verify')}">check a record</a>.</p>`,
  })
}
