// The page that puts two agents or forecasters side by side.
import type { SideBySide } from '../../schemas/worked-out.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { page } from './layout.ts'
import { profilePath } from '../../schemas/entity-paths.ts'
import { questionPath, withQuery } from './links.ts'
import { counted, percent, plain, signed } from './numbers.ts'
import { releaseLine } from './provenance.ts'
import { type Site, linkTo } from './site.ts'
import { scrolling } from './table.ts'
import { endOf, named, orNone } from './wording.ts'

const PATH = '/view/compare'

export interface CompareView {
  site: Site
  /** The ids in the form. */
  asked: { a?: string | undefined; b?: string | undefined }
  /** Undefined until both ids are given. */
  comparison: SideBySide | undefined
}

/** Returns the path of the page that compares an entity with another one, still to be named. */
export function comparePath(a: string): string {
  return withQuery(PATH, { a })
}

export function comparePage({ site, asked, comparison }: CompareView): Html {
  return page({
    site,
    title: 'Side by side',
    description:
      'Two agents or forecasters on the questions that both answered, over the time in which both had a forecast.',
    path: withQuery(PATH, asked),
    isIndexed: comparison === undefined && asked.a === undefined,
    ...(comparison && {
      alternates: { 'application/json': withQuery('/compare', asked) },
      source: releaseLine(site, comparison),
    }),
    content: html`<p>Two agents or forecasters on the questions that both answered, over the time in which both had a forecast standing.</p>
${form(site, asked)}
${comparison && result(site, comparison)}`,
  })
}

function form(site: Site, { a, b }: CompareView['asked']): Html {
  return html`<form class="filters" method="get" action="${linkTo(site, PATH)}" aria-label="Two ids">
<label>Id of one <input name="a" value="${a ?? ''}" size="38" required></label>
<label>Id of the other <input name="b" value="${b ?? ''}" size="38" required></label>
<button>Compare</button>
</form>`
}

type Side = SideBySide['a']

function linked(site: Site, { entity_type, id, name }: Side): Html {
  const words = name === null ? html`${entity_type} ${endOf(id)}` : named(name)
  return html`<a href="${linkTo(site, profilePath(entity_type, id))}">${words}</a>`
}

function result(site: Site, comparison: SideBySide): HtmlPart {
  const { a, b, questions, clusters, most_different: rows } = comparison
  if (questions === 0) {
    return html`<div class="state"><p>${linked(site, a)} and ${linked(site, b)} have no settled question on which both stood at the same time.</p></div>`
  }
  const row = (side: Side) =>
    html`<tr><th scope="row" class="name">${linked(site, side)}</th><td class="n">${orNone(side.brier, plain)}</td></tr>\n`
  return html`<p class="lead">${verdict(site, comparison)}</p>
<p>${counted(questions, 'question')} in ${counted(clusters, 'event or week of a category', 'events or weeks of a category')}, each weighted by the time that both stood.</p>
${scrolling(
  'Brier scores',
  html`<table>
<thead><tr><th scope="col">who</th><th scope="col" class="n">Brier</th></tr></thead>
<tbody>
${row(a)}${row(b)}</tbody></table>`,
)}
<h2>Where they differ most</h2>
${scrolling(
  'Questions',
  html`<table>
<thead><tr><th scope="col">question</th><th scope="col">outcome</th><th scope="col" class="n">${nameOf(a)}</th><th scope="col" class="n">${nameOf(b)}</th><th scope="col" class="n">better by</th><th scope="col" class="n">shared time</th></tr></thead>
<tbody>
${rows.map(
  ({ question_id: id, title, outcome, a_brier: one, b_brier: other, coverage }) =>
    html`<tr><th scope="row" class="name"><a href="${linkTo(site, questionPath(id))}">${title === null ? endOf(id) : named(title)}</a></th><td>${outcome}</td><td class="n">${plain(one)}</td><td class="n">${plain(other)}</td><td class="n">${signed(other - one)}</td><td class="n">${percent(coverage)}</td></tr>
`,
)}</tbody></table>`,
)}
<p class="mute">The numbers of both are Brier scores over the shared time: less is better. “Better by” is how much the first one is better.</p>`
}

function nameOf({ id, name }: Side): HtmlPart {
  return name === null ? endOf(id) : named(name)
}

function verdict(site: Site, { a, b, brier_difference: difference, interval }: SideBySide): Html {
  const by = plain(Math.abs(difference!))
  if (!interval)
    return html`All questions are of one event, so nothing says how much of the difference of ${by} is luck.`
  const from = `from ${signed(interval.lower)} to ${signed(interval.upper)} at the level ${percent(interval.level)}`
  const [better, worse] = difference! < 0 ? [a, b] : [b, a]
  return interval.lower <= 0 && interval.upper >= 0
    ? html`The two cannot be told apart: the difference of their Brier scores is ${signed(difference!)}, ${from}.`
    : html`${linked(site, better)} is better than ${linked(site, worse)} by ${by}: the difference of their Brier scores is ${signed(difference!)}, ${from}.`
}
