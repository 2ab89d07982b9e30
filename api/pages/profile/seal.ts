// The seal: the title, and one plain sentence that says what is shown and what is not.
import { shapeOf } from '../award.ts'
import { type Html, html } from '../html.ts'
import { counted, minuteOf, percent, signed } from '../numbers.ts'
import type { Site } from '../site.ts'
import { term } from '../terms.ts'
import { interval } from '../wording.ts'
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
