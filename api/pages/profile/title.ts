// The title of a profile: its seal with one plain sentence, what a title takes, and how often one is wrong.
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

export function seal(site: Site, of: Payloads, rules: TitleRules): Html {
  const { words, shown, further } = claimOf(of, rules)
  const title = awardOf(of)
  return html`<section class="seal seal-${title}" aria-label="Title">
<p class="title">${shapeOf(title)} ${words}</p>
<div><p><strong>${shown}.</strong>${further !== undefined && ` ${further}.`}</p>
${skillLine(site, of, rules)}</div>
</section>`
}

/** Returns the sentence of the seal, for previews. */
export function sentenceOf(of: Payloads, rules: TitleRules): string {
  const { shown, further } = claimOf(of, rules)
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

function claimOf(of: Payloads, rules: TitleRules): Claim {
  const { metrics, profile, verification } = of
  if (metrics.resolved_questions === 0) return { words: 'Nothing settled yet', ...waitingOf(profile) }
  const [its, it] = isAgent(of) ? ['Its', 'it'] : ['Their', 'they']
  switch (awardOf(of)) {
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
        shown: `A skill${of.rankings.rank === null ? '' : ' and a place'}, and nothing proved`,
        further: measuredOf(of),
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
function measuredOf(of: Payloads): string {
  const { skill_interval: range, contested_questions: questions } = of.verification
  const are = isAgent(of) ? 'it is' : 'they are'
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

interface Requirement {
  rule: string
  needed: string
  has: string
  isMet: boolean
  /** The missing amount, if it can be counted. */
  missing?: string
}

type Interval = { lower: number } | null

interface TitleRequirements {
  title: Title
  /** The claim that the title makes about its holder. */
  says: string
  requirements: readonly Requirement[]
}

/**
 * Compares what each title takes (METHODOLOGY §3) with what the entity has, by its verification alone.
 *
 * Returns the titles in rising order. An entity has the last title whose requirements are met together with
 * those of all titles before it.
 */
export function requirementsOf({ verification }: Payloads, rules: TitleRules): TitleRequirements[] {
  const { contested_questions, priced_questions, evidence, coverage, voice_rule } = verification
  const { skill, skill_interval, median_skill, median_skill_interval } = verification
  const { market_skill, market_skill_interval } = verification
  const questions = (needed: number) => count('shared question', needed, contested_questions)
  const isEveryone = voice_rule === 'everyone'
  const skilled = (name: string, value: number | null, range: Interval) => [
    atLeast(name, rules.least_skill, value, withSign),
    above(`lower end of the ${name}`, range),
  ]
  return [
    {
      title: 'measured',
      says: 'a skill and a place, and nothing proved',
      requirements: [questions(rules.eligible_questions)],
    },
    {
      title: 'certified',
      says: 'smaller errors than the average, and than the median, of all others at the same moments',
      requirements: [
        questions(rules.certified_questions),
        ...(isEveryone ? [count('priced question', rules.certified_questions, priced_questions)] : []),
        atLeast('evidence', rules.least_evidence, evidence, inMultiples),
        atLeast('coverage', rules.least_coverage, coverage, inPerCent),
        ...skilled('skill', skill, skill_interval),
        ...skilled('median skill', median_skill, median_skill_interval),
        ...(priced_questions > 0 ? skilled('market skill', market_skill, market_skill_interval) : []),
      ],
    },
  ]
}

function count(what: string, needed: number, has: number): Requirement {
  return {
    rule: `${what}s`,
    needed: `≥ ${needed}`,
    has: String(has),
    isMet: has >= needed,
    ...(has < needed && {
      missing: `${counted(needed - has, what)} more`.replace(/^(\S+) (.*) more$/, '$1 more $2'),
    }),
  }
}

function above(rule: string, range: Interval): Requirement {
  const lower = range?.lower
  return {
    rule,
    needed: '> 0',
    has: lower === undefined ? 'none yet' : exact(lower),
    isMet: lower !== undefined && lower > 0,
  }
}

/** @param written writes a value, if it is close to the needed one with decimals that tell them apart. */
function atLeast(
  rule: string,
  needed: number,
  has: number | null,
  written: (value: number, isClose: boolean) => string,
): Requirement {
  return {
    rule,
    needed: `≥ ${written(needed, false)}`,
    has: has === null ? 'none yet' : written(has, has !== needed && Math.abs(has - needed) < 0.005),
    isMet: has !== null && has >= needed,
  }
}

const inMultiples = (value: number, isClose: boolean) => plain(value, isClose ? 6 : 2)
const inPerCent = (value: number, isClose: boolean) => percent(value, isClose ? 4 : 0)
const withSign = (value: number, isClose: boolean) => signed(value, isClose ? 6 : 3)

/** With as many decimals as it takes to tell it from 0. */
function exact(value: number): string {
  return Math.abs(value) < 0.0005 ? signed(value, 6) : signed(value)
}

export function requirementsTable(of: Payloads, rules: TitleRules): Html {
  return html`<table class="rules"><caption>What each title takes, and what is there</caption>
<thead><tr><th scope="col">rule</th><th scope="col" class="n">needed</th><th scope="col">has</th></tr></thead>
${requirementsOf(of, rules).map(
  ({ title, says, requirements }) => html`<tbody>
<tr><th scope="rowgroup" colspan="3"><strong>${shapeOf(title)} ${title}</strong>: ${says}</th></tr>
${requirements.map(requirementRow)}</tbody>
`,
)}</table>`
}

function requirementRow({ rule, needed, has, isMet, missing }: Requirement): Html {
  const mark = isMet
    ? html`<span class="yes">✓\u00a0${has}</span>`
    : html`<span class="no">✗\u00a0${has}</span>`
  return html`<tr><td>${rule}</td><td class="n">${needed}</td><td>${mark}${missing !== undefined && `: ${missing}`}</td></tr>\n`
}

/** Rows of the table of measurements. A test compares them with docs/methodology.md. */
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
