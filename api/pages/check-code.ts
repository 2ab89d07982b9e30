// The page behind a code: what a release said of an entity, and beside it what is so now.
import type { EntityType } from '../../schemas/tables.ts'
import { profilePath } from '../../schemas/entity-paths.ts'
import { CHECK_SCRIPTS } from './assets.ts'
import { type Award, awarded, titleInWords, titleOf } from './award.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { page } from './layout.ts'
import { questionPath } from './links.ts'
import { counted, grouped, signed } from './numbers.ts'
import { INSECURE, proofOf } from './profile/check.ts'
import { levelOf, shownName } from './profile/subject.ts'
import { type Site, linkTo } from './site.ts'
import { scrolling } from './table.ts'
import { dayOf, endOf, interval, orNone, places, time } from './wording.ts'

export function checkPath(code: string): string {
  return `/view/check/${code}`
}

/** The words of a release about an entity, in a record or in a row of a snapshot. */
export type Said = Award & {
  release: number
  skill: number | null
  skill_interval: { lower: number; upper: number; level: number } | null
  contested_questions: number
  rank: number | null
  rank_interval: { lower: number; upper: number } | null
}

interface Subject {
  site: Site
  /** In its one form. */
  code: string
  entityType: EntityType
  entityId: string
  /** As the current release has it; null where it has none, or where the operator hides it. */
  name: string | null
}

export interface CheckedCode extends Subject {
  said: Said
  asOf: string
  /** Undefined if the current release does not have the entity. */
  now: { said: Said; asOf: string; retiredAt: string | null } | undefined
  /** Whether the earlier release has another name. */
  wasNamedOtherwise: boolean
  corrected: {
    /** The questions whose outcome was corrected since. */
    questionIds: readonly string[]
    /** Whether all releases since then were looked through. */
    isWhole: boolean
  }
  /** The record of the earlier release, as the API sent it then. */
  recordText: string
  /** The path of its proof; undefined where there is no public log. */
  proofPath: string | undefined
}

export function checkedCodePage(checked: CheckedCode): Html {
  const { site, code, said, asOf, now, recordText, proofPath } = checked
  const isCurrent = now?.said.release === said.release
  return frame(checked, [
    html`<section class="verdict" aria-label="Result">
<p class="yes">✓ Exactly what release ${said.release} published</p>
<p>The code <code>${code}</code> leads to the record of ${subjectLink(checked)} in release ${said.release}, of ${time(asOf)}. Compare the numbers below with the picture or the page that you were shown.</p>
</section>
${isCurrent ? html`<p>That is the current release, so nothing has changed since.</p>` : changes(checked)}
${comparison(said, asOf, isCurrent ? undefined : now)}
<h2 id="check">Whose word is that?</h2>
<p>So far it is this service’s own word: it found the record by the code and compared the two. A code proves nothing by itself. ${proofPath === undefined ? 'This service keeps no public log, so nobody else vouches for the record.' : 'Your browser can check the record against the public log.'}</p>
<details><summary>The record, byte for byte</summary><pre id="payload">${recordText}</pre></details>
${proofPath !== undefined && html`${INSECURE}\n${proofOf(site, proofPath)}`}`,
  ])
}

export interface ThinnedCode extends Omit<Subject, 'entityId' | 'name'> {
  release: number
  asOf: string
  thinnedAt: string
  /** The row of the day's snapshot at the place of the code; undefined where nobody can know. */
  kept: { entityId: string; name: string | null; said: Said } | undefined
}

/** The page of a code whose record was deleted, so that the code cannot be compared with it. */
export function thinnedCodePage({ release, asOf, thinnedAt, kept, ...subject }: ThinnedCode): Html {
  const known: HtmlPart = kept
    ? html`<p>The daily snapshot made by that release is kept. At the place that the code names it has ${subjectLink({ ...subject, ...kept })}:</p>
${comparison(kept.said, asOf, undefined)}`
    : html`<p>No snapshot of that release is kept either, so this page cannot say whom the code is about. Ask whoever showed it to you for the link of their page.</p>`
  return frame({ ...subject, name: null, entityId: kept?.entityId ?? '', ...kept }, [
    html`<div class="state"><p><strong>This code can no longer be checked.</strong> The records of release ${release}, of ${time(asOf)}, were deleted on ${dayOf(thinnedAt)}, as the operator’s rules for old releases say. A right code and a made-up one look the same by now.</p></div>
${known}`,
  ])
}

function frame(subject: Subject, content: HtmlPart): Html {
  const { site, code, entityId } = subject
  return page({
    site,
    title: `Check of the code ${code}`,
    heading: entityId === '' ? html`Check of a code` : html`${headingOf(subject)}: check of a code`,
    description: `What this service published under the code ${code}, and what is so now.`,
    path: checkPath(code),
    isIndexed: false,
    scripts: CHECK_SCRIPTS,
    content: html`${content}
<p><a href="${linkTo(site, '/view/verify')}">Check something else</a></p>`,
  })
}

function headingOf({ name, entityType, entityId }: Omit<Subject, 'site' | 'code'>): Html {
  return shownName(entityType, entityId, name)
}

function subjectLink(subject: Subject): Html {
  const { site, entityType, entityId } = subject
  return html`<a href="${linkTo(site, profilePath(entityType, entityId))}">${headingOf(subject)}</a> (${entityType}, ${endOf(entityId)})`
}

/** Tells the reader of an old picture first what is no longer so. */
function changes(checked: CheckedCode): Html {
  const { site, said, now, entityType, wasNamedOtherwise, corrected } = checked
  const notes: HtmlPart[] = []
  if (now === undefined) notes.push('The current release says nothing of them any more.')
  else {
    const [before, after] = [titleOf(said), titleOf(now.said)]
    if (before !== after) {
      notes.push(
        html`The title has changed: it was ${titleInWords(before)}, and is ${titleInWords(after)} now.`,
      )
    }
    if (now.retiredAt !== null) notes.push(html`This ${entityType} retired on ${dayOf(now.retiredAt)}.`)
  }
  if (wasNamedOtherwise) notes.push('They had another name then.')
  const { questionIds, isWhole } = corrected
  if (questionIds.length > 0) {
    const links = questionIds
      .slice(0, MOST_LINKS)
      .map((id) => html` <a href="${linkTo(site, questionPath(id))}">${endOf(id)}</a>`)
    notes.push(
      html`The outcome of ${counted(questionIds.length, 'question')} was corrected since:${links}${questionIds.length > MOST_LINKS && ' …'}`,
    )
  }
  if (!isWhole) notes.push('Corrections are looked for in the last 100 releases only.')
  if (notes.length === 0) return html`<p>The title has not changed since.</p>`
  return html`<div class="state"><ul>
${notes.map((note) => html`<li>${note}</li>\n`)}</ul></div>`
}

const MOST_LINKS = 5

function comparison(said: Said, asOf: string, now: CheckedCode['now']): Html {
  const rows: [name: string, show: (of: Said) => HtmlPart][] = [
    ['Title', awarded],
    ['Skill', ({ skill }) => orNone(skill, signed)],
    [
      'It may lie between',
      ({ skill_interval: range }) => (range ? `${interval(range)} (${levelOf(range)} sure)` : '–'),
    ],
    ['Shared questions', ({ contested_questions: questions }) => grouped(questions)],
    ['Place', placeOf],
  ]
  const cell = (part: HtmlPart) => html`<td>${part}</td>`
  const head = (words: string, of: Said, at: string) =>
    html`<th scope="col">${words} release ${of.release}<br><small>${dayOf(at)}</small></th>`
  return scrolling(
    'Then and now',
    html`<table class="then-now"><thead><tr><td></td>${head('Said', said, asOf)}${now && head('Now:', now.said, now.asOf)}</tr></thead>
<tbody>
${rows.map(([name, show]) => html`<tr><th scope="row">${name}</th>${cell(show(said))}${now && cell(show(now.said))}</tr>\n`)}</tbody></table>`,
  )
}

function placeOf({ rank, rank_interval: range }: Said): string {
  return range === null ? orNone(rank, grouped) : places(range)
}
