// The seal: the title, and one plain sentence that says what is shown and what is not.
import { CERTIFICATES } from '../../../schemas/payloads.ts'
import { shapeOf } from '../award.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { counted, grouped, minuteOf, percent, signed } from '../numbers.ts'
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

function skillLine(site: Site, of: Payloads, rules: TitleRules): Html {
  const { verification, metrics } = of
  if (metrics.skill !== null) {
    const { skill_interval: range } = verification
    const certain =
      range && `, between ${interval(range)} with ${levelOf(range)} confidence`.replace(' to ', ' and ')
    const { coverage } = verification
    const covered =
      coverage !== undefined &&
      coverage !== null &&
      html`, with a forecast for ${term(site, 'coverage', html`${percent(coverage)} of their time`)}`
    return html`<p class="mute">${term(site, 'skill', 'Skill')} ${signed(metrics.skill)}${certain}, on ${term(site, 'shared-questions', counted(metrics.contested_questions, 'shared question'))}${covered}.${fragilitySentence(site, of)} <a href="#titles">What a title takes</a></p>`
  }
  return html`<p class="mute">A ${term(site, 'place', 'place')} takes ${rules.eligible_questions} ${term(site, 'shared-questions', 'shared questions')}. <a href="#titles">What a title takes</a></p>`
}

/** Nothing for other titles, nor in a release that lacks the number. */
function fragilitySentence(site: Site, of: Payloads): HtmlPart {
  const { fragility, contested_questions: outcomes } = of.metrics
  if (fragility === undefined || fragility === null || !CERTIFICATES.includes(awardOf(of))) return undefined
  const some = term(site, 'fragility', `${grouped(fragility)} of ${counted(outcomes, 'outcome')}`)
  return html` The title would fall if ${some} were different.`
}

function claimOf(of: Payloads, rules: TitleRules): Claim {
  const { metrics, profile } = of
  const title = awardOf(of)
  if (metrics.resolved_questions === 0) return { words: 'Nothing settled yet', ...waitingOf(profile) }
  if (!metrics.eligible) {
    return {
      words: 'No place yet',
      shown: earlyOf(metrics, rules),
      further: 'These are early numbers, and prove nothing yet',
    }
  }
  if (isAgent(of)) {
    switch (of.verification.certification) {
      case 'expert':
        return {
          words: 'Expert',
          shown: `Better than the middle one of the others, and better than the average of them all: ${UNLIKELY}`,
          further: 'This holds for the questions it chose to answer',
        }
      case 'certified':
        return {
          words: 'Certified',
          shown: `Better than the middle one of the others: ${UNLIKELY}`,
          further: 'Whether it is better than the average of them all is not proven yet',
        }
      default:
        return { words: 'Provisional', ...intervalClaim(of, standingOf(of)) }
    }
  }
  switch (title) {
    case 'platinum':
    case 'gold':
      return {
        words: title === 'gold' ? 'Gold' : 'Platinum',
        shown: `Among the best ${100 - (title === 'gold' ? rules.gold_percentile : rules.platinum_percentile)} % of those ranked, and better than the middle one of the others: ${UNLIKELY}`,
        further: 'This holds for the questions they chose to answer',
      }
    case 'silver':
      return {
        words: 'Silver',
        ...intervalClaim(of, 'Among the best quarter of those ranked'),
      }
    case 'bronze':
      return {
        words: 'Bronze',
        ...intervalClaim(of, 'Among the better half of those ranked'),
      }
    default:
      return { words: 'No title', ...intervalClaim(of, 'Has a place, in the lower half of those ranked') }
  }
}

/** Returns what the interval of a ranked entity shows, for titles that do not say it. */
function intervalClaim(of: Payloads, standing: string): Omit<Claim, 'words'> {
  const { skill_interval: range, contested_questions: questions } = of.verification
  if (range !== null && range.upper < 0) {
    return { shown: 'Worse than the middle one of the others: bad luck is very unlikely as the reason' }
  }
  if (range !== null && range.lower > 0) {
    return {
      shown: 'Above the middle one of the others, with luck allowed for',
      further: 'What more the next title takes is below',
    }
  }
  if (range === null && questions > 1) {
    return { shown: standing, further: 'That may be luck: all questions count as one event' }
  }
  const whether = `Whether ${isAgent(of) ? 'it is' : 'they are'} really better than the middle one of the others`
  return { shown: standing, further: `${whether}, ${counted(questions, 'question')} do not show yet` }
}

/** A retired agent has no place, except in a release of version 2 of the method. */
function standingOf({ rankings }: Payloads): string {
  return rankings.rank === null ? 'Enough shared questions for a place' : 'Has a place'
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
