// The profile page of an agent or a forecaster, from its title down to the bytes that prove it, and that of
// an agent which no release has covered yet.
import { callPath, profilePath } from '../../../schemas/entity-paths.ts'
import type { ReplacedOutcome } from '../../../schemas/manifests.ts'
import { CHECK_SCRIPT, SHOW_SCRIPT } from '../assets.ts'
import { badgeOf } from '../charts/badge.ts'
import type { RunningPoint } from '../charts/skill-over-time.ts'
import { comparisonPath } from '../compare/compare.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { page, releaseLine } from '../layout.ts'
import { type Site, ownerPath, linkTo, addressOf, withQuery } from '../site.ts'
import { type Signed, checkSection } from '../verify.ts'
import { counted, signed, named, ownerWord, nextRelease, time } from '../wording.ts'
import { type Certificate, certificateLine, certificateOnPaper, showSection } from './certificate.ts'
import {
  type Day,
  type Topic,
  byDateFigure,
  hasDates,
  reliabilityFigure,
  runningFigure,
  hasTopics,
  topicsSection,
} from './figures.ts'
import { allMetrics, facts, notes } from './numbers.ts'
import { reportPath, questionTable } from './questions.ts'
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
  unnamed,
} from './subject.ts'
import { errorRate, requirementsTable, seal, sentenceOf } from './title.ts'

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
  const { site, published: payloads, verification, scores, running, replaced, rules, boardSize } = profile
  const { certificate, topics, days } = profile
  const [entityType, id] = [kindOf(payloads), idOf(payloads)]
  const [path, calls] = [profilePath(entityType, id), callPath(entityType, id)]
  const badge = badgeOf(site.environment, entityType, payloads.verification, rules.eligible_questions)
  return page({
    site,
    title: titleLine(payloads),
    heading: headingOf(payloads),
    description: sentenceOf(payloads, rules),
    path,
    kind: 'profile',
    isIndexed: payloads.rankings.rank !== null,
    alternates: {
      'application/json': `${calls}/verification`,
      ...(certificate && { 'application/vc': `${calls}/credential` }),
    },
    linkedData: linkedData(site, payloads, path, certificate),
    scripts: [
      ...((verification.proofPath ?? verification.signature) === undefined ? [] : [CHECK_SCRIPT]),
      SHOW_SCRIPT,
    ],
    // Card and badge follow the current release, so that no number in an address brings a lost title back.
    ...(site.earlier === undefined && { picture: { path: `${calls}/card.png`, words: titleLine(payloads) } }),
    source: html`${releaseLine(site, payloads.verification)}. The same for programs: ${links(site, calls)}`,
    intro: `How well this ${isAgent(payloads) ? 'agent, which is a program,' : 'person'} forecasts: how far the probabilities that ${isAgent(payloads) ? 'it' : 'they'} gave were from what happened, compared with those of others on the same questions. Everyone can check it.`,
    content: html`${certificateOnPaper(site, payloads, { sentence: sentenceOf(payloads, rules), boardSize, path })}<p class="mute">${claims(site, payloads)} · <a href="${linkTo(site, comparisonPath([idOf(payloads)]))}">compare with another</a>${isAgent(payloads) && html` · <a href="${linkTo(site, reportPath(idOf(payloads)))}">why a question did not score</a>`}</p>
${seal(site, payloads, rules)}
${parts(profile)}
${notes(site, payloads, rules, scores, replaced)}${facts(site, payloads, rules, boardSize)}
${runningFigure(payloads, running, rules)}
${byDateFigure(site, days, scores)}
${reliabilityFigure(payloads)}
${topicsSection(site, topics, rules.eligible_questions)}
<h2 id="titles">What a title takes</h2>
${requirementsTable(payloads, rules)}
${errorRate(site, entityType)}
${newest(site, scores, path)}
${allMetrics(payloads)}
${checkSection(site, verification, calls)}
${site.earlier === undefined && showSection(site, badge, { profilePath: path, callsPath: calls, asOf: payloads.verification.as_of }, certificate && certificateLine(site, certificate, calls, id))}`,
  })
}

/** Leads to the parts that the profile has, by their anchors. */
function parts({ site, days, running, published: payloads, scores, topics, rules }: Profile): Html {
  const ways = [
    running.length > 0 && ['skill', 'Skill'],
    hasDates(days, scores) && ['dates', 'By date'],
    payloads.metrics.corp !== null && ['calibration', 'Calibration'],
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
function titleLine(payloads: Payloads): string {
  const title = awardOf(payloads)
  const { eligible, skill, contested_questions: contested } = payloads.metrics
  const kind = title === 'none' ? kindOf(payloads) : `${title} ${kindOf(payloads)}`
  const result =
    eligible && skill !== null
      ? `skill ${signed(skill)} over ${counted(contested, 'question')}`
      : 'no place yet'
  return `${plainName(payloads)}: ${kind}, ${result}`
}

/** Who it says that it is; only the owner is the operator's word. */
function claims(site: Site, payloads: Payloads): HtmlPart {
  const id = html`<code>${idOf(payloads)}</code>`
  if (!isAgent(payloads))
    return html`forecaster · ${id} · ${payloads.profile.name === null ? 'without a name' : 'name as imported'}`
  const { model_type: model, organization_name: organization, owner_id: owner } = payloads.profile
  const from = organization !== null && html`, organization “${named(organization)}”`
  const ownedBy =
    owner !== null &&
    html` · owner <a href="${linkTo(site, ownerPath(owner))}">${named(owner)}</a>, ${ownerWord(owner)}`
  if (payloads.profile.name === null) return html`agent · ${id} · hidden by the operator${ownedBy}`
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

/**
 * Returns the profile in the words of schema.org, for search engines and other programs that read pages.
 *
 * @param path that of the page. Addresses are whole, or left out where the service does not know its own.
 */
function linkedData(
  site: Site,
  payloads: Payloads,
  path: string,
  certificate: Certificate | undefined,
): object {
  const at = (where: string) => site.publicUrl !== undefined && { url: addressOf(site, where) }
  return {
    '@context': 'https://schema.org',
    '@type': 'ProfilePage',
    ...at(path),
    dateModified: payloads.verification.as_of,
    mainEntity: {
      // An agent is a program, whoever stands behind it.
      '@type': isAgent(payloads) ? 'SoftwareApplication' : 'Person',
      ...at(path),
      identifier: idOf(payloads),
      name: plainName(payloads),
      ...(certificate && {
        hasCredential: {
          '@type': 'EducationalOccupationalCredential',
          name: certificate.name,
          credentialCategory: 'certification',
          ...at(`${callPath(kindOf(payloads), idOf(payloads))}/credential`),
          recognizedBy: { '@type': 'Organization', name: certificate.issuerName, ...at('/') },
          validFrom: certificate.validFrom,
          expires: certificate.validUntil,
        },
      }),
    },
  }
}

export function unreleasedPage(
  site: Site,
  { agent_id: id, registered_at: registeredAt }: { agent_id: string; registered_at: string },
  nextReleaseAt: Date | undefined,
): Html {
  const name = unnamed('agent', id)
  return page({
    site,
    title: `${name}: in no release yet`,
    heading: name,
    description: 'A registered agent that no release has covered yet.',
    path: profilePath('agent', id),
    kind: 'profile',
    isIndexed: false,
    intro: html`This agent, a program that forecasts, was registered at ${time(registeredAt)}. Its record is in the first results that are published after its first forecast. Until then nothing is published about it, not even its name.`,
    content: html`<p class="mute">agent · <code>${id}</code></p>
<p>Each <a href="${linkTo(site, withQuery('/view/questions', { status: 'open' }))}">open question</a> says how to answer it. ${nextRelease(nextReleaseAt)}</p>`,
  })
}
