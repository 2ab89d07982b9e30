// The list of releases, and the page of one: what each changed.
import { LEADERBOARD_PATHS } from '../../schemas/entity-paths.ts'
import type {
  Correction,
  Erasure,
  ReleaseManifest,
  TitleChange,
  TitleChanges,
} from '../../schemas/manifests.ts'
import { type Html, type HtmlPart, html, scrolling } from './html.ts'
import { page, pager } from './layout.ts'
import { entityLink } from './profile/subject.ts'
import { type Site, RELEASES_PATH, questionPath, releasePath, withQuery, inRelease, linkTo } from './site.ts'
import { awardedTitle, counted, grouped, nothingScored, dayOf, endOf, named, time } from './wording.ts'

/** A release, and how it differs from the one before it. */
export interface ReleaseChange {
  manifest: ReleaseManifest
  /** By how many more questions count than before. */
  questions: number
  /** Undefined where retention has deleted the files that say it. */
  titles: TitleChanges | undefined
}

interface ReleasesView {
  site: Site
  /** Newest first. */
  releases: readonly ReleaseChange[]
  /** The first is 1. */
  pageNumber: number
  pages: number
  nextReleaseAt: Date | undefined
}

const NOT_KNOWN = html`<span class="mute">not known</span>`

export function releasesPage({ site, releases, pageNumber, pages, nextReleaseAt }: ReleasesView): Html {
  const pathOf = (number: number) => withQuery(RELEASES_PATH, { page: number === 1 ? undefined : number })
  return page({
    site,
    title: pageNumber === 1 ? 'Releases' : `Releases, page ${pageNumber}`,
    description: 'All releases, newest first, with the questions, corrections and titles that each changed.',
    path: pathOf(pageNumber),
    isIndexed: pageNumber === 1 && releases.length > 0,
    alternates: { 'application/atom+xml': '/releases.atom' },
    intro:
      'From time to time this service scores everyone’s forecasts anew, and publishes the results under a number, as a release that never changes afterwards. Here are all of them, with what each changed.',
    content:
      releases.length === 0
        ? html`<div class="state"><p>${nothingScored(nextReleaseAt)}</p></div>`
        : html`${scrolling('Releases', releaseTable(site, releases))}
${pager(site, { pageNumber, pages, pathOf })}
<p class="mute"><a href="${linkTo(site, '/releases.atom')}">As a feed</a></p>`,
  })
}

function releaseTable(site: Site, releases: readonly ReleaseChange[]): Html {
  return html`<table>
<thead><tr><th scope="col" class="name">release</th><th scope="col" class="n">questions</th><th scope="col" class="n">corrections</th><th scope="col" class="n">titles won</th><th scope="col" class="n">titles lost</th></tr></thead>
<tbody>
${releases.map(({ manifest, questions, titles }) => {
  const { release, as_of: asOf } = manifest
  return html`<tr><th scope="row" class="name"><a href="${linkTo(site, releasePath(release))}">Release ${release}</a><span class="under">${time(asOf)}</span></th><td class="n">${more(questions)}</td><td class="n">${correctionCount(manifest)}</td><td class="n">${titles?.won ?? NOT_KNOWN}</td><td class="n">${titles?.lost ?? NOT_KNOWN}</td></tr>
`
})}</tbody></table>`
}

/** Writes how many more there are, as in +12, or fewer. */
function more(count: number): string {
  if (count === 0) return '0'
  return `${count > 0 ? '+' : '−'}${grouped(Math.abs(count))}`
}

/** An erasure corrects scores too, without a change of a question. */
function correctionCount({ corrections, erasures = [] }: ReleaseManifest): number {
  return corrections.length + erasures.length
}

/** The most corrections that a page tells one by one. */
export const MOST_CORRECTIONS = 100

interface ReleaseView extends ReleaseChange {
  site: Site
  /** The number of the current release. */
  current: number
  /** When retention began to delete what it published; undefined if it has not. */
  thinnedAt: string | undefined
  /** The titles of corrected questions that are known, by id. */
  questionTitles: ReadonlyMap<string, string>
  /** The names that entities have today, by id; none for those who have none. */
  names: ReadonlyMap<string, string>
}

export function releasePage(view: ReleaseView): Html {
  const { site, manifest, current, questions, titles } = view
  const { release, as_of: asOf, counts } = manifest
  const before = release > 1 ? 'since the release before' : 'in the first release'
  return page({
    site,
    title: `Release ${release} of ${asOf.slice(0, 10)}`,
    description: `Release ${release} of ${asOf.slice(0, 10)}: what it changed, and what it said.`,
    path: releasePath(release),
    kind: 'article',
    alternates: { 'application/json': `/releases/${release}` },
    intro: html`How well everyone forecast, as of ${time(asOf)}, by <a href="${linkTo(site, '/view/methodology')}">method ${manifest.methodology_version}</a>: results that are published together, under one number, and never change. ${release === current ? 'These are the current ones.' : html`The current ones are those of <a href="${linkTo(site, releasePath(current))}">release ${current}</a>.`}`,
    content: html`<dl class="facts">
${fact('Questions', grouped(counts.scored_questions), `${questions === 0 ? 'none new' : more(questions)} ${before}`)}${fact('Corrections', grouped(correctionCount(manifest)), before)}${fact('Titles won', titles ? grouped(titles.won) : NOT_KNOWN, before)}${fact('Titles lost', titles ? grouped(titles.lost) : NOT_KNOWN, before)}${fact('Agents', grouped(counts.agents), 'registered by then')}${fact('Forecasters', grouped(counts.forecasters), 'brought in by then')}
</dl>
${whatItSaid(view)}${titleSection(view)}${correctionSection(view)}
${neighbours(site, release, current)}`,
  })
}

function fact(name: string, value: HtmlPart, note: string): Html {
  return html`<div><dt>${name}</dt><dd>${value}<small>${note}</small></dd></div>\n`
}

function whatItSaid({ site, manifest: { release }, current, thinnedAt }: ReleaseView): Html {
  const record = html`<a href="${linkTo(site, `/releases/${release}`)}">its record for programs</a>`
  if (thinnedAt !== undefined) {
    return html`<p>The operator deleted on ${dayOf(thinnedAt)} what this release said of agents and forecasters, as the rules for old releases say. There is still ${record}.</p>
`
  }
  const pathOf = (path: string) => linkTo(site, release === current ? path : inRelease(path, release))
  return html`<p>What it said: <a href="${pathOf(LEADERBOARD_PATHS.agent)}">agents</a>, <a href="${pathOf(LEADERBOARD_PATHS.forecaster)}">forecasters</a>, ${record}.</p>
`
}

function titleSection({ site, titles, names }: ReleaseView): HtmlPart {
  if (titles === undefined) {
    return html`<h2 id="titles">Titles won and lost</h2>
<p>Not known: the files that say it are deleted.</p>
`
  }
  const all = titles.won + titles.lost
  if (all === 0) return undefined
  const rest =
    all > titles.first.length && html`<p>The first ${titles.first.length} of ${grouped(all)}.</p>\n`
  return html`<h2 id="titles">Titles won and lost</h2>
${rest}${scrolling(
    'Titles won and lost',
    html`<table><thead><tr><th scope="col" class="name">who</th><th scope="col">title before</th><th scope="col">title now</th></tr></thead>
<tbody>
${titles.first.map((change) => titleRow(site, change, names.get(change.entityId)))}</tbody></table>`,
  )}
`
}

function titleRow(
  site: Site,
  { entityType, entityId, from, to }: TitleChange,
  name: string | undefined,
): Html {
  const link = entityLink(site, entityType, entityId, name ?? null)
  const end = name !== undefined && html` ${endOf(entityId)}`
  return html`<tr><th scope="row" class="name">${link}${end}</th><td>${awardedTitle(from)}</td><td>${awardedTitle(to)}</td></tr>
`
}

function correctionSection({
  site,
  questionTitles,
  manifest: { corrections, erasures = [] },
}: ReleaseView): HtmlPart {
  if (corrections.length + erasures.length === 0) return undefined
  const erased = erasures.slice(0, MOST_CORRECTIONS).map(erasureLine)
  if (corrections.length === 0) return html`<h2 id="corrections">Corrections</h2>\n${erased}`
  const shown = corrections.slice(0, MOST_CORRECTIONS)
  const rest =
    corrections.length > shown.length &&
    html`<p>The first ${shown.length} of ${counted(corrections.length, 'correction')}.</p>\n`
  return html`<h2 id="corrections">Corrections</h2>
${erased}${rest}${scrolling(
    'Corrections',
    html`<table><thead><tr><th scope="col" class="name">question</th><th scope="col">what</th><th scope="col">from</th><th scope="col">to</th><th scope="col">why</th></tr></thead>
<tbody>
${shown.map((one) => correctionRow(site, one, questionTitles.get(one.question_id)))}</tbody></table>`,
  )}
`
}

function erasureLine({ user_id, erased_at, reason, forecasts, questions, pairs }: Erasure): Html {
  return html`<p>On ${dayOf(erased_at)} the operator erased ${counted(forecasts, 'forecast')} of the person <code>${user_id}</code>, which may have moved ${counted(pairs, 'score')} on ${counted(questions, 'question')}. The reason: ${named(reason)}</p>
`
}

function correctionRow(site: Site, one: Correction, title: string | undefined): Html {
  const { question_id: id, column, from, to, reason } = one
  const value = (text: string | null) => {
    if (text === null) return 'none'
    return column.endsWith('_at') ? time(text) : named(text)
  }
  return html`<tr><th scope="row" class="name"><a href="${linkTo(site, questionPath(id))}">${title === undefined ? endOf(id) : named(title)}</a></th><td>${column.replaceAll('_', ' ')}</td><td>${value(from)}</td><td>${value(to)}</td><td>${reason !== null && named(reason)}</td></tr>
`
}

function neighbours(site: Site, release: number, current: number): Html {
  const link = (number: number, words: string, rel: string) =>
    number >= 1 &&
    number <= current &&
    html`<a rel="${rel}" href="${linkTo(site, releasePath(number))}">${words}</a>\n`
  return html`<nav class="pager" aria-label="Other releases">
${link(release - 1, '← Release before', 'prev')}<a href="${linkTo(site, RELEASES_PATH)}">All releases</a>
${link(release + 1, 'Next release →', 'next')}</nav>`
}
