// Shows the questions of an entity in a table: what was said last, the error, and that of the others’
// average.
import { type Html, html } from '../html.ts'
import { questionPath } from '../links.ts'
import { percent, plain } from '../numbers.ts'
import { type Site, linkTo } from '../site.ts'
import { scrolling } from '../table.ts'
import { term } from '../terms.ts'
import { dayOf, endOf, named, orNone } from '../wording.ts'
import { gainOf, othersError } from './question-order.ts'
import type { QuestionScore } from './subject.ts'

export function questionTable(site: Site, caption: Html, rows: readonly QuestionScore[]): Html {
  return scrolling(
    'Questions',
    html`<table><caption>${caption}</caption>
<thead><tr><th scope="col">question</th><th scope="col">outcome</th><th scope="col" class="n">said last</th><th scope="col" class="n">vs others</th><th scope="col" class="n">${term(site, 'brier', 'error')}</th><th scope="col" class="n">${term(site, 'others', 'others')}</th><th scope="col" class="n">${term(site, 'coverage', 'covered')}</th><th scope="col" class="n">resolved</th></tr></thead>
<tbody>
${rows.map((row) => rowOf(site, row))}</tbody></table>`,
  )
}

function rowOf(site: Site, row: QuestionScore): Html {
  const { question_id: id, title, outcome, resolved_at: at, closing_probability: said, brier, coverage } = row
  const others = othersError(row)
  const better = gainOf(row)
  const gain = !row.settled ? 'not closed yet' : better === null ? 'not shared' : compared(better)
  return html`<tr><th scope="row" class="name"><a href="${linkTo(site, questionPath(id))}">${title === null ? endOf(id) : named(title)}</a></th><td>${outcome}</td><td class="n">${said === null ? 'withdrawn' : percent(said)}</td><td class="n">${gain}</td><td class="n">${plain(brier)}</td><td class="n">${orNone(others, plain)}</td><td class="n">${percent(coverage)}</td><td class="n">${dayOf(at)}</td></tr>\n`
}

/** Says by how much an error was smaller, in words, because a sign would have two readings. */
function compared(gain: number): string {
  const shown = plain(Math.abs(gain))
  if (shown === plain(0)) return 'the same'
  return `${shown} ${gain > 0 ? 'better' : 'worse'}`
}
