// The profile page of an agent or a forecaster, from its title down to the bytes that prove it.
import type { ReplacedOutcome } from '../../../schemas/manifests.ts'
import { CHECK_SCRIPT, SHOW_SCRIPT } from '../assets.ts'
import { badgeOf } from '../charts/badge.ts'
import type { RunningPoint } from '../charts/running-skill.ts'
import { comparePath } from '../compare.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { page } from '../layout.ts'
import { callPath, profilePath } from '../../../schemas/entity-paths.ts'
import { ownerPath } from '../links.ts'
import { counted, signed } from '../numbers.ts'
import { releaseLine } from '../provenance.ts'
import { reportPath } from '../report.ts'
import { type Site, linkTo } from '../site.ts'
import { named, ownerWord } from '../wording.ts'
import { allMetrics } from './all-metrics.ts'
import { type Day, byDateFigure, hasDates } from './by-date.ts'
import { type Certificate, certificateLine } from './certificate.ts'
import { type Signed, checkSection } from './check.ts'
import { errorRate } from './error-rate.ts'
import { facts } from './facts.ts'
import { reliabilityFigure, runningFigure } from './figures.ts'
import { linkedData } from './linked-data.ts'
import { notes } from './notes.ts'
import { questionTable } from './question-table.ts'
import { requirementsTable } from './requirements.ts'
import { seal, sentenceOf } from './seal.ts'
import { certificateOnPaper } from './on-paper.ts'
import { showSection } from './show.ts'
import { type Topic, hasTopics, topicsSection } from './topics.ts'
import {
  type Payloads,
  type QuestionScore,
  type TitleRules,
  awardOf,
  headingOf,
  idOf,
  isAgent,
  kindOf,
  plainName,
} from './subject.ts'

const NEWEST = 12

export interface Profile {
  site: Site
  published: Payloads
  verification: Signed
  /** All questions of the entity, those that were settled first at the front. */
  scores: readonly QuestionScore[]
  running: readonly RunningPoint[]
  topics: readonly Topic[]
  /** Days on which a skill was published, in order: all, or some in equal steps. */
  days: readonly Day[]
  /** All outcomes that the release replaces, of any entity's questions. */
  replaced: readonly ReplacedOutcome[]
  rules: TitleRules
  /** The certificate that it holds, if any. */
  certificate?: Certificate | undefined
  /** How many have a place with it, itself among them; 0 if it has none. */
  boardSize: number
}

export function profilePage(profile: Profile): Html {
  const { site, published: of, verification, scores, running, replaced, rules, boardSize } = profile
  const { certificate, topics, days } = profile
  const [entityType, id] = [kindOf(of), idOf(of)]
  const [path, calls] = [profilePath(entityType, id), callPath(entityType, id)]
  const badge = badgeOf(site.environment, entityType, of.verification, rules.eligible_questions)
  return page({
    site,
    title: titleLine(of),
    heading: headingOf(of),
    description: sentenceOf(of, rules),
    path,
    kind: 'profile',
    isIndexed: of.rankings.rank !== null,
    alternates: {
      'application/json': `${calls}/verification`,
      ...(certificate && { 'application/vc': `${calls}/credential` }),
    },
    linkedData: linkedData(site, of, path, certificate),
    scripts: [
      ...((verification.proofPath ?? verification.signature) === undefined ? [] : [CHECK_SCRIPT]),
      SHOW_SCRIPT,
    ],
    // Card and badge follow the current release.
    ...(site.earlier === undefined && { picture: { path: `${calls}/card.png`, words: titleLine(of) } }),
    source: html`${releaseLine(site, of.verification)}. The same for programs: ${links(site, calls)}`,
    content: html`${certificateOnPaper(site, of, { sentence: sentenceOf(of, rules), boardSize, path })}<p class="mute">${claims(site, of)} · <a href="${linkTo(site, comparePath(idOf(of)))}">compare with another</a>${isAgent(of) && html` · <a href="${linkTo(site, reportPath(idOf(of)))}">why a question did not score</a>`}</p>
${seal(site, of, rules)}
${parts(profile)}
${notes(site, of, rules, scores, replaced)}${facts(site, of, rules, boardSize)}
${runningFigure(of, running, rules)}
${byDateFigure(site, days, scores)}
${reliabilityFigure(of)}
${topicsSection(site, topics, rules.eligible_questions)}
<h2 id="titles">What a title takes</h2>
${requirementsTable(of, rules)}
${errorRate(site, entityType)}
${newest(site, scores, path)}
${allMetrics(of)}
${checkSection(site, verification, calls)}
${site.earlier === undefined && showSection(site, badge, { profilePath: path, callsPath: calls, asOf: of.verification.as_of }, certificate && certificateLine(site, certificate, calls, id))}`,
  })
}

/** Leads to the parts that the profile has, by their anchors. */
function parts({ site, days, running, published: of, scores, topics, rules }: Profile): Html {
  const ways = [
    running.length > 0 && ['skill', 'Skill'],
    hasDates(days, scores) && ['dates', 'By date'],
    of.metrics.corp !== null && ['calibration', 'Calibration'],
    hasTopics(topics, rules.eligible_questions) && ['topics', 'Topics'],
    ['titles', 'Titles'],
    scores.length > 0 && ['questions', 'Questions'],
    ['numbers', 'All numbers'],
    ['check', 'Check it'],
    site.earlier === undefined && ['show', 'Show it'],
  ].filter((link) => link !== false)
  return html`<nav class="parts" aria-label="On this page"><ul>
${ways.map(([anchor, words]) => html`<li><a href="#${anchor}">${words}</a></li>\n`)}</ul></nav>`
}

/** Returns a line such as “crow: certified agent, skill +0.203 over 110 questions”. */
function titleLine(of: Payloads): string {
  const title = awardOf(of)
  const { eligible, skill, contested_questions: contested } = of.metrics
  const kind = title === 'none' ? kindOf(of) : `${title} ${kindOf(of)}`
  const result =
    eligible && skill !== null
      ? `skill ${signed(skill)} over ${counted(contested, 'question')}`
      : 'no place yet'
  return `${plainName(of)}: ${kind}, ${result}`
}

/** Who it says that it is; only the owner is the operator's word. */
function claims(site: Site, of: Payloads): HtmlPart {
  const id = html`<code>${idOf(of)}</code>`
  if (!isAgent(of))
    return html`forecaster · ${id} · ${of.profile.name === null ? 'without a name' : 'name as imported'}`
  const { model_type: model, organization_name: organization, owner_id: owner } = of.profile
  const from = organization !== null && html`, organization “${named(organization)}”`
  const ownedBy =
    owner !== null &&
    html` · owner <a href="${linkTo(site, ownerPath(owner))}">${named(owner)}</a>, ${ownerWord(owner)}`
  if (of.profile.name === null) return html`agent · ${id} · hidden by the operator${ownedBy}`
  const claimed = model === null ? '' : html` · model type “${named(model)}”${from}, as registered`
  return html`agent · ${id}${claimed}${ownedBy}`
}

function newest(site: Site, scores: readonly QuestionScore[], path: string): HtmlPart {
  if (scores.length === 0) return undefined
  const shown = scores.slice(-NEWEST).toReversed()
  const all = html`<a href="${linkTo(site, `${path}/questions`)}">All ${counted(scores.length, 'question')}</a>, <a href="${linkTo(site, `${path}/questions?sort=worst`)}">the worst first</a>, <a href="${linkTo(site, `${path}/questions?sort=best`)}">the best first</a>`
  const which = scores.length > NEWEST ? html`The ${NEWEST} newest. ${all}` : html`${all}`
  return html`<h2 id="questions">Question by question</h2>
${questionTable(site, html`${which}. “Others” is the error of the others’ average over the time in which both are compared.`, shown)}`
}

const CALLS = ['verification', 'metrics', 'rankings', 'advanced-metrics']

function links(site: Site, calls: string): HtmlPart {
  return [
    html`<a href="${linkTo(site, calls)}">profile</a>`,
    CALLS.map((name) => html`, <a href="${linkTo(site, `${calls}/${name}`)}">${name.replace('-', ' ')}</a>`),
  ]
}
