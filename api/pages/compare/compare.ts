// The page that puts up to four agents or forecasters side by side.
import type { ReleaseManifest } from '../../../schemas/manifests.ts'
import type { EntityType } from '../../../schemas/tables.ts'
import { calibrationTogether } from '../charts/comparison.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { page, releaseLine } from '../layout.ts'
import { type Site, SEARCH_PATH, withQuery, linkTo } from '../site.ts'
import { grouped, claimed, named } from '../wording.ts'
import { type Compared, comparedSeveral, linked, nameOf, plainName, comparedTwo } from './compared.ts'

const PATH = '/view/compare'
/** The fields, in order. */
export const LETTERS = ['a', 'b', 'c', 'd'] as const

/** A text by which nobody, or more than one, may be meant. */
export interface Open {
  text: string
  choices: readonly { entityType: EntityType; entityId: string; name: string | null }[]
  total: number
}

interface CompareView extends Compared {
  /** Those of whom it is open who is meant. */
  open: readonly Open[]
  release: ReleaseManifest | undefined
}

/** Returns the path of the page that compares these, and asks for a second one if there is only one. */
export function comparisonPath(ids: readonly string[]): string {
  return withQuery(PATH, Object.fromEntries(ids.map((id, index) => [LETTERS[index]!, id])))
}

export function comparePage(view: CompareView): Html {
  const { site, sides, open, pairs, release } = view
  const ids = sides.map(({ id }) => id)
  const names = sides.map(plainName)
  const isDone = pairs.length > 0
  return page({
    site,
    title: isDone ? `${listed(names)}, side by side` : 'Side by side',
    ...(isDone && { heading: html`${listedParts(sides.map(nameOf))}, side by side` }),
    description:
      'Agents and forecasters on the questions that they share, over the time in which all had a forecast.',
    path: comparisonPath(ids),
    isIndexed: ids.length === 0 && open.length === 0,
    ...(pairs.length === 1 && {
      alternates: { 'application/json': withQuery('/compare', { a: ids[0], b: ids[1] }) },
    }),
    ...(release && { source: releaseLine(site, release) }),
    intro: html`Which people or programs forecast better, on the questions that they share?${!isDone && ' Name two, or up to four.'}`,
    content: html`${isDone && result(view)}
${open.map((one) => choicesOf(site, ids, one))}${form(view)}`,
  })
}

function result(view: CompareView): HtmlPart {
  const { site, sides, pairs } = view
  return html`${pairs.length === 1 ? comparedTwo(view, pairs[0]!) : comparedSeveral(view)}
${calibrationTogether(sides.map(({ curve, ...side }) => ({ curve, name: linked(site, side), plainName: plainName(side) })))}`
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

function listedParts(names: readonly Html[]): HtmlPart {
  return names.map((name, index) => [index === 0 ? '' : index < names.length - 1 ? ', ' : ' and ', name])
}

function choicesOf(site: Site, ids: readonly string[], { text, choices, total }: Open): Html {
  if (choices.length === 0) {
    return html`<div class="state"><p>Nobody here is called “${named(text)}”. A part of a name is enough.</p></div>
`
  }
  const rest = total > choices.length
  return html`<div class="state"><p>Whom do you mean by “${named(text)}”?</p>
<ul class="hits">
${choices.map(({ entityType, entityId, name }) => html`<li><a href="${linkTo(site, comparisonPath([...ids, entityId]))}">${claimed(name, entityId)}</a><span class="under">${entityType}</span></li>\n`)}</ul>
${rest && html`<p><a href="${linkTo(site, withQuery(SEARCH_PATH, { q: text }))}">All ${grouped(total)} with that name</a>: copy the link of one into the field.</p>\n`}</div>
`
}

/** Asks for those who are missing; those who are there stay, or leave by a link. */
function form({ site, sides, open, pairs }: CompareView): HtmlPart {
  const ids = sides.map(({ id }) => id)
  const kept = sides.map((side, index) => {
    const others = ids.filter((id) => id !== side.id)
    return html`<li>${linked(site, side)} <a href="${linkTo(site, comparisonPath(others))}">remove<span class="unseen"> ${nameOf(side)}</span></a><input type="hidden" name="${LETTERS[index]}" value="${side.id}"></li>
`
  })
  const letters = LETTERS.slice(sides.length, Math.max(2, sides.length + 1))
  const fields = letters.map((letter, index) => {
    const text = open[index]?.text ?? ''
    const words = sides.length === 0 ? (index === 0 ? 'One' : 'The other') : 'With'
    return html`<label>${words} <input name="${letter}" value="${text}" placeholder="Name, id or link" size="24"${pairs.length === 0 && html` required`}></label>
`
  })
  const heading =
    pairs.length > 0 &&
    html`<h2 class="screen">${letters.length > 0 ? 'Add another' : 'Who is compared'}</h2>\n`
  return html`${heading}<form class="filters" method="get" action="${linkTo(site, PATH)}" aria-label="Who is compared">
${kept.length > 0 && html`<ul class="kept">\n${kept}</ul>\n`}${fields}${letters.length > 0 && html`<button>${pairs.length > 0 ? 'Add' : 'Compare'}</button>\n`}</form>`
}
