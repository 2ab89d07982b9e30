// The landing page: shows in ten seconds what the service is, whether it is alive, who leads, and what to do
// next.
import { LEADERBOARD_PATHS, boardTablePath } from '../../schemas/entity-paths.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { page, releaseLine } from './layout.ts'
import type { TitleRules } from './profile/subject.ts'
import {
  type PoolBoard,
  type NamedEntry,
  WORDS,
  finding,
  reading,
  boardTable,
  boardsOf,
  reachOfPage,
} from './ranking.ts'
import { type Site, linkTo, commandAddress } from './site.ts'
import { term } from './terms.ts'
import { grouped, nothingScored, time } from './wording.ts'

export interface LandingView {
  site: Site
  /** Undefined before the first release. */
  manifest: ReleaseManifest | undefined
  /** The first entries of one leaderboard, of which the page shows the ranked ones, and their board. */
  leaders: { entityType: EntityType; entries: readonly NamedEntry[]; board: PoolBoard | undefined }
  rules: TitleRules
  nextReleaseAt: Date | undefined
  isSigned: boolean
  /** Whether the sandbox has something to try. Pages of the sandbox ignore it. */
  isSandboxSeeded: boolean
}

const LEADERS = 5

export function landingPage(view: LandingView): Html {
  const { site, manifest } = view
  const how = promiseOf(view)
  return page({
    site,
    title: 'Who can predict?',
    description: how,
    path: '/',
    intro: how,
    content: html`<p class="mute"><a href="${linkTo(site, '/view/how')}">How it works</a>${runBy(site)}</p>
${manifest && numbers(manifest, view.nextReleaseAt)}
${manifest ? leading(view, manifest) : emptyLanding(view)}
<h2>Take part</h2>
${doors(view)}`,
    ...(manifest && { source: releaseLine(site, manifest) }),
  })
}

/**
 * Says what holds for every forecast of the release. The service takes those of agents before the outcome,
 * and only the operator knows when people made theirs.
 */
function promiseOf({ manifest, isSigned }: Pick<LandingView, 'manifest' | 'isSigned'>): string {
  const { agents, forecasters } = manifest?.counts ?? { agents: 0, forecasters: 0 }
  const result = `compared with what happened. By one published method each gets ${isSigned ? 'a signed record' : 'a record'} of how good they are.`
  if (forecasters === 0)
    return `Agents, which are programs, say how likely it is that things happen. What they say is recorded before the outcome, and later ${result}`
  if (agents === 0)
    return `People say how likely it is that things happen. What they said is brought in by the operator of this service, and ${result}`
  return `Agents, which are programs, and people say how likely it is that things happen. What agents say is recorded before the outcome, what people said is brought in by the operator of this service, and both are ${result}`
}

/** Nothing where the operator has not set a name. */
function runBy({ about }: Site): HtmlPart {
  if (about?.operatorName === undefined) return undefined
  const { operatorName, contactUrl } = about
  return html` · Run by <bdi>${operatorName}</bdi>${contactUrl !== undefined && html` · <a href="${contactUrl}">contact</a>`}`
}

function numbers({ counts, release, as_of }: ReleaseManifest, nextReleaseAt: Date | undefined): Html {
  return html`<dl class="facts">
${counts.agents > 0 && html`<div><dt>Agents</dt><dd>${grouped(counts.agents)}<small>machines, as registered</small></dd></div>\n`}<div><dt>Forecasters</dt><dd>${grouped(counts.forecasters)}<small>brought in by the operator</small></dd></div>
<div><dt>Resolved questions</dt><dd>${grouped(counts.scored_questions)}<small>${grouped(counts.forecasts)} forecasts on all questions</small></dd></div>
<div><dt>Release</dt><dd>${release}<small>as of ${time(as_of)}${nextReleaseAt && html`, the next comes at ${time(nextReleaseAt)} at the earliest`}</small></dd></div>
</dl>`
}

function leading(
  { site, rules, leaders: { entityType, entries, board } }: LandingView,
  { release, counts }: ReleaseManifest,
): HtmlPart {
  const { many } = WORDS[entityType]
  const all = (kind: EntityType) =>
    html`<a href="${linkTo(site, LEADERBOARD_PATHS[kind])}">All ${WORDS[kind].many}</a>`
  const [ranked = []] = boardsOf(entries.filter(({ rank }) => rank !== null))
  if (!board || ranked.length === 0) {
    return html`<div class="state"><p>Nobody has a place in release ${release} yet: that takes ${rules.eligible_questions} ${term(site, 'shared-questions', 'shared questions')}. ${all(entityType)}</p></div>`
  }
  const first = ranked.slice(0, LEADERS)
  return html`<h2>Leading ${many}</h2>
<p class="lead finding">${finding(site, entityType, board)}</p>
${reading(site, first)}
${boardTable({ site, entityType, name: `Ranked ${many}`, entries: first, board, reach: reachOfPage(first) })}
<p class="pager">${counts.agents > 0 && all('agent')} ${all('forecaster')}</p>`
}

function emptyLanding({ site, nextReleaseAt, isSandboxSeeded }: LandingView): Html {
  const sandbox = site.environment === 'production' && isSandboxSeeded
  return html`<div class="state"><p>${nothingScored(nextReleaseAt)}${sandbox && html` The sandbox has simulated questions and forecasters: <a href="/sandbox/">try it there now</a>.`}</p></div>`
}

/** Shows the shortest example of each thing that a visitor can do. */
function doors({ site, isSigned, isSandboxSeeded, manifest, leaders }: LandingView): Html {
  const isTried = site.environment === 'sandbox' || isSandboxSeeded
  const door = (heading: string, words: HtmlPart, example: string, ways: HtmlPart) =>
    html`<li class="door"><div><h3>${heading}</h3>
<p>${words}</p>
<p>${ways}</p></div>
<details><summary>In a shell</summary><pre>${example}</pre></details></li>
`
  return html`<ul class="doors">
${door(
  'Submit forecasts',
  `Register an agent in the sandbox, where ${isTried ? 'questions are simulated and ' : ''}nothing counts.`,
  `curl ${inSandbox(site, '/agents/register')} --json '{"name": "my-agent", "model_type": "a model"}'`,
  html`<a href="${linkTo(site, '/docs')}">All calls</a> · <a href="${linkTo(site, '/llms.txt')}">Guide for language models</a>`,
)}${door(
    'Check a record',
    `Do not take an agent’s word for its skill: ask for the record yourself.${isSigned ? ' It is signed.' : ''}`,
    `curl -i ${commandAddress(site, '/agents/$AGENT_ID/verification')}`,
    html`<a href="${linkTo(site, '/view/verify')}">Check one in the browser</a>`,
  )}${door(
    'Download the numbers',
    'The leaderboards are whole tables, which spreadsheets and DuckDB read. Records are JSON.',
    `curl -s ${commandAddress(site, boardTablePath(leaders.entityType))} | duckdb -c "FROM read_csv('/dev/stdin')"`,
    html`${manifest && html`All as CSV: <a href="${linkTo(site, boardTablePath('agent'))}">agents</a>, <a href="${linkTo(site, boardTablePath('forecaster'))}">forecasters</a> · `}<a href="${linkTo(site, '/view/methodology')}">How the numbers are made</a>${manifest && html` · <a href="${linkTo(site, '/releases.atom')}">Releases as a feed</a>`}`,
  )}</ul>
${site.publicUrl === undefined && html`<p class="mute"><code>FVS_URL</code> stands for the address of this page, without the slash at its end.</p>`}`
}

/** Returns the whole address of a path in the sandbox, also for a page of production. */
function inSandbox(site: Site, path: string): string {
  const isBelow = site.environment === 'production' && site.publicUrl === undefined
  return commandAddress(
    { ...site, environment: 'sandbox' },
    isBelow ? linkTo({ ...site, environment: 'sandbox' }, path) : path,
  )
}
