// The title of a profile: its seal with one plain sentence, what a title takes, and how often one is wrong.
import { type RequiredMetric, type Requirement, requirementsOf } from '../../../pipeline/scoring/title.ts'
import type { Title } from '../../../schemas/payloads.ts'
import type { EntityType } from '../../../schemas/tables.ts'
import { type Html, html } from '../html.ts'
import { type Site, linkTo } from '../site.ts'
import { term } from '../terms.ts'
import { shapeOf, counted, minuteOf, percent, signed, interval, plain } from '../wording.ts'
import { type Payloads, type TitleRules, awardOf, isAgent, levelOf } from './subject.ts'

interface Claim {
  /** The text next to the shape of the title. */
  words: string
  /** A sentence without its stop. */
  shown: string
  /** A further sentence without its stop; undefined if there is nothing to add. */
  further?: string
}

const UNLIKELY = 'luck is very unlikely as the reason'

export function seal(site: Site, payloads: Payloads, rules: TitleRules): Html {
  const { words, shown, further } = claimOf(payloads, rules)
  const title = awardOf(payloads)
  return html`<section class="seal seal-${title}" aria-label="Title">
<p class="title">${shapeOf(title)} ${words}</p>
<div><p><strong>${shown}.</strong>${further !== undefined && ` ${further}.`}</p>
${skillLine(site, payloads, rules)}</div>
</section>`
}

/** Returns the sentence of the seal, for previews. */
export function sentenceOf(payloads: Payloads, rules: TitleRules): string {
  const { shown, further } = claimOf(payloads, rules)
  return `${shown}.${further === undefined ? '' : ` ${further}.`}`
}

function skillLine(site: Site, { verification, metrics }: Payloads, rules: TitleRules): Html {
  const { skill, skill_interval: range, contested_questions: questions, coverage } = verification
  if (!metrics.eligible || skill === null) {
    return html`<p class="mute">A ${term(site, 'place', 'place')} takes ${rules.eligible_questions} ${term(site, 'shared-questions', 'shared questions')}. <a href="#titles">What a title takes</a></p>`
  }
  const certain =
    range && `, between ${interval(range)} with ${levelOf(range)} confidence`.replace(' to ', ' and ')
  const covered =
    coverage !== null &&
    html`, judged for ${term(site, 'coverage', html`${percent(coverage)} of their time`)}`
  return html`<p class="mute">${term(site, 'skill', 'Skill')} ${signed(skill)}${certain}, on ${term(site, 'shared-questions', counted(questions, 'shared question'))}${covered}. <a href="#titles">What a title takes</a></p>`
}

function claimOf(payloads: Payloads, rules: TitleRules): Claim {
  const { metrics, profile, verification } = payloads
  if (metrics.resolved_questions === 0) return { words: 'Nothing settled yet', ...waitingOf(profile) }
  const [its, it] = isAgent(payloads) ? ['Its', 'it'] : ['Their', 'they']
  switch (awardOf(payloads)) {
    case 'certified': {
      const market =
        verification.priced_questions > 0 ? ', and of the market’s price where there was one' : ''
      return {
        words: 'Certified',
        shown: `${its} errors were smaller than those of the average, and of the median, of all others at the same moments${market}: ${UNLIKELY}`,
        further: `This holds for the questions that ${it} chose to answer`,
      }
    }
    case 'measured':
      return {
        words: 'Measured',
        shown: `A skill${payloads.rankings.rank === null ? '' : ' and a place'}, and nothing proved`,
        further: measuredOf(payloads),
      }
    default:
      return {
        words: 'No place yet',
        shown: earlyOf(metrics, rules),
        further: 'These are early numbers, and prove nothing yet',
      }
  }
}

/** Says what the interval leaves open for those without a certificate. */
function measuredOf(payloads: Payloads): string {
  const { skill_interval: range, contested_questions: questions } = payloads.verification
  const are = isAgent(payloads) ? 'it is' : 'they are'
  if (range === null) return 'How much of it is luck cannot be said: all questions are of one event'
  if (range.upper < 0) return `With luck allowed for, ${are} worse than the average of the others`
  if (range.lower > 0) {
    return `With luck allowed for, ${are} better than the average of the others; what a certificate takes besides is below`
  }
  return `Whether ${are} better than the average of the others, ${counted(questions, 'question')} do not show yet`
}

function waitingOf({
  last_forecast_at: last,
  open_forecasts: waiting,
  next_close_at: closes,
}: Payloads['profile']): Omit<Claim, 'words'> {
  if (last === null) return { shown: 'No forecast was made yet' }
  if (waiting === 0 || closes === null) return { shown: 'No forecast is scored, and none is waiting' }
  return waiting === 1
    ? { shown: '1 forecast is waiting', further: `Its question closes ${minuteOf(closes)}` }
    : {
        shown: `${waiting} forecasts are waiting`,
        further: `The first of their questions closes ${minuteOf(closes)}`,
      }
}

function earlyOf(metrics: Payloads['metrics'], rules: TitleRules): string {
  const { contested_questions: has, resolved_questions: resolved } = metrics
  if (has > 0) return `${has} of the ${rules.eligible_questions} shared questions that a place takes`
  return `${counted(resolved, 'settled question')}, none of them shared`
}

/** The claim that each title makes about its holder. */
const CLAIMS = {
  measured: 'a skill and a place, and nothing proved',
  certified: 'smaller errors than the average, and than the median, of all others at the same moments',
} as const

/** How a metric that a title takes is called, and how its value is written. */
interface Wording {
  rule: string
  /** Writes a value; if it is close to the needed one, with decimals that tell them apart. */
  written: (value: number, isClose: boolean) => string
  /** The thing that is counted, where a missing amount can be told. */
  counts?: string
}

const counts = (what: string): Wording => ({ rule: `${what}s`, written: String, counts: what })
const withSign = (value: number, isClose: boolean) => signed(value, isClose ? 6 : 3)
/** With as many decimals as it takes to tell it from 0. */
const exact = (value: number) => (Math.abs(value) < 0.0005 ? signed(value, 6) : signed(value))

const WORDINGS: Record<RequiredMetric, Wording> = {
  contested_questions: counts('shared question'),
  priced_questions: counts('priced question'),
  evidence: { rule: 'evidence', written: (value, isClose) => plain(value, isClose ? 6 : 2) },
  coverage: { rule: 'coverage', written: (value, isClose) => percent(value, isClose ? 4 : 0) },
  skill: { rule: 'skill', written: withSign },
  median_skill: { rule: 'median skill', written: withSign },
  market_skill: { rule: 'market skill', written: withSign },
  skill_interval: { rule: 'lower end of the skill', written: exact },
  median_skill_interval: { rule: 'lower end of the median skill', written: exact },
  market_skill_interval: { rule: 'lower end of the market skill', written: exact },
}

/** Compares what each title takes (METHODOLOGY §3) with what the entity has, by its verification alone. */
export function requirementsTable({ verification }: Payloads, rules: TitleRules): Html {
  const { measured, certified } = requirementsOf({ parameters: rules }, verification)
  return html`<table class="rules"><caption>What each title takes, and what is there</caption>
<thead><tr><th scope="col">rule</th><th scope="col" class="n">needed</th><th scope="col">has</th></tr></thead>
${Object.entries({ measured, certified }).map(
  ([title, requirements]) => html`<tbody>
<tr><th scope="rowgroup" colspan="3"><strong>${shapeOf(title as Title)} ${title}</strong>: ${CLAIMS[title as keyof typeof CLAIMS]}</th></tr>
${requirements.map(requirementRow)}</tbody>
`,
)}</table>`
}

function requirementRow({ metric, has, needed, isMet }: Requirement): Html {
  const { rule, written, counts: what } = WORDINGS[metric]
  const least = metric.endsWith('_interval') ? '> 0' : `≥ ${written(needed, false)}`
  const isClose = has !== null && has !== needed && Math.abs(has - needed) < 0.005
  const value = has === null ? 'none yet' : written(has, isClose)
  if (isMet)
    return html`<tr><td>${rule}</td><td class="n">${least}</td><td><span class="yes">✓\u00a0${value}</span></td></tr>\n`
  const missing =
    what !== undefined && `: ${counted(needed - has!, what).replace(/^(\S+) (.*)$/, '$1 more $2')}`
  return html`<tr><td>${rule}</td><td class="n">${least}</td><td><span class="no">✗\u00a0${value}</span>${missing}</td></tr>\n`
}

/** Rows of the table of measurements. A test compares them with bench/notes/method.md. */
export const MEASURED = {
  ever: { result: '0.3 %' },
  owner: { agents: 5, result: '0 %' },
}

/** Says how often a title is wrong: the promised rate, and the measured one. */
export function errorRate(site: Site, entityType: EntityType): Html {
  const how = html`<a href="${linkTo(site, '/view/methodology#measured')}">How it was measured</a>`
  if (entityType === 'forecaster') {
    return html`<p class="mute">Could a title be luck? Of forecasters who are no better than the average of the others, at most 1 in 40 would ever get a certificate, in the long run. ${how}.</p>`
  }
  return html`<p class="mute">Could a title be luck? Of owners whose agents are no better than the average of the others, at most 1 in 20 would ever get a certificate, in the long run. In simulations of a year it was ${MEASURED.ever.result} of agents exactly as good as that average, and ${MEASURED.owner.result} of owners of ${MEASURED.owner.agents} agents as good as their peers. ${how}.</p>`
}
