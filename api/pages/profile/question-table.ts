// Shows the questions of an entity in a table: its last forecast, the score of a middle field, and by how
// much it was better.
import { type Html, html } from '../html.ts'
import { questionPath } from '../links.ts'
import { percent, plain, signed } from '../numbers.ts'
import { type Site, linkTo } from '../site.ts'
import { scrolling } from '../table.ts'
import { dayOf, endOf, named, orNone } from '../wording.ts'
import type { QuestionScore } from './subject.ts'

const NANO = 1e9

/** @param rows newest first. */
export function questionTable(site: Site, caption: Html, rows: readonly QuestionScore[]): Html {
  return scrolling(
    'Questions',
    html`<table><caption>${caption}</caption>
<thead><tr><th scope="col">question</th><th scope="col">outcome</th><th scope="col" class="n">said last</th><th scope="col" class="n">better by</th><th scope="col" class="n">Brier</th><th scope="col" class="n">the field</th><th scope="col" class="n">covered</th><th scope="col" class="n">resolved</th></tr></thead>
<tbody>
${rows.map((row) => rowOf(site, row))}</tbody></table>`,
  )
}

function rowOf(site: Site, row: QuestionScore): Html {
  const { question_id: id, title, outcome, resolved_at: at, closing_probability: said, brier, coverage } = row
  const { standard_reference: reference } = row
  const field = reference === null ? null : reference / NANO / coverage
  const gain = !row.settled ? 'not closed yet' : field === null ? 'not contested' : signed(field - brier)
  return html`<tr><th scope="row" class="name"><a href="${linkTo(site, questionPath(id))}">${title === null ? endOf(id) : named(title)}</a></th><td>${outcome}</td><td class="n">${said === null ? 'withdrawn' : percent(said)}</td><td class="n">${gain}</td><td class="n">${plain(brier)}</td><td class="n">${orNone(field, plain)}</td><td class="n">${percent(coverage)}</td><td class="n">${dayOf(at)}</td></tr>\n`
}
