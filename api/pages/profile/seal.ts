// The seal: the title, and one plain sentence that says what is shown and what is not.
import { CERTIFICATES } from '../../../schemas/payloads.ts'
import { shapeOf } from '../award.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { counted, grouped, minuteOf, percent, signed } from '../numbers.ts'
import { contestedQuestions } from '../ranking.ts'
import { type Site, linkTo } from '../site.ts'
import { interval } from '../wording.ts'
import { type Payloads, type TitleRules, awardOf, isAgent, levelOf } from './subject.ts'

interface Claim {
  /** The text next to the shape of the title. */
  words: string
  shown: string
  /** Continues the sentence; undefined if there is nothing to add. */
  notShown?: string
}

export function seal(site: Site, of: Payloads, rules: TitleRules): Html {
  const { words, shown, notShown } = claimOf(of, rules)
  const title = awardOf(of)
  return html`<section class="seal seal-${title}" aria-label="Title">
<p class="title">${shapeOf(title)} ${words}</p>
<div><p><strong>${shown}</strong>${notShown !== undefined && `; ${notShown}`}.</p>
${skillLine(site, of, rules)}</div>
</section>`
}

/** Returns the sentence of the seal, for previews. */
export function sentenceOf(of: Payloads, rules: TitleRules): string {
  const { shown, notShown } = claimOf(of, rules)
  return `${shown}${notShown === undefined ? '' : `; ${notShown}`}.`
}

function skillLine(site: Site, of: Payloads, rules: TitleRules): Html {
  const { verification, metrics } = of
  if (metrics.skill !== null) {
    const { skill_interval: range } = verification
    const certain =
      range && `, between ${interval(range)} with ${levelOf(range)} confidence`.replace(' to ', ' and ')
    const { coverage } = verification
    const covered =
      coverage !== undefined && coverage !== null && `, ${percent(coverage)} of their time covered`
    return html`<p class="mute">Skill ${signed(metrics.skill)}${certain}, on ${counted(metrics.contested_questions, 'contested question')}${covered}.${fragilitySentence(site, of)} <a href="#titles">What a title takes</a></p>`
  }
  return html`<p class="mute">A rank takes ${contestedQuestions(rules)}. <a href="#titles">What a title takes</a></p>`
}

/** Nothing for other titles, nor in a release that lacks the number. */
function fragilitySentence(site: Site, of: Payloads): HtmlPart {
  const { fragility, contested_questions: outcomes } = of.metrics
  if (fragility === undefined || fragility === null || !CERTIFICATES.includes(awardOf(of))) return undefined
  const some = html`<a href="${linkTo(site, '/view/methodology#fragility')}">${grouped(fragility)} of ${counted(outcomes, 'outcome')}</a>`
  return html` The title would fall if ${some} were different.`
}

function claimOf(of: Payloads, rules: TitleRules): Claim {
  const { verification, metrics, profile } = of
  const title = awardOf(of)
  if (metrics.resolved_questions === 0) return { words: 'Nothing settled yet', ...waitingOf(profile) }
  if (!metrics.eligible) {
    return {
      words: 'No rank yet',
      shown: earlyOf(metrics, rules),
      notShown: 'these are early numbers, and nothing is proven yet',
    }
  }
  if (isAgent(of)) {
    switch (of.verification.certification) {
      case 'expert':
        return {
          words: 'Expert',
          shown:
            'Better than the middle of its field and than copying its field’s average, and not by luck alone',
          notShown: 'how it does on other questions than those it chose is not shown',
        }
      case 'certified':
        return {
          words: 'Certified',
          shown: 'Better than the middle of its field, and not by luck alone',
          notShown: 'that it beats copying its field’s average is not shown',
        }
      default:
        return { words: 'Provisional', ...intervalClaim(verification.skill_interval, standingOf(of)) }
    }
  }
  switch (title) {
    case 'platinum':
    case 'gold':
      return {
        words: title === 'gold' ? 'Gold' : 'Platinum',
        shown: `Among the best ${100 - (title === 'gold' ? rules.gold_percentile : rules.platinum_percentile)} % of its field, and better than the middle of it not by luck alone`,
        notShown: 'how it does on other questions than those it chose is not shown',
      }
    case 'silver':
      return {
        words: 'Silver',
        ...intervalClaim(verification.skill_interval, `In the best quarter of its field`),
      }
    case 'bronze':
      return {
        words: 'Bronze',
        ...intervalClaim(verification.skill_interval, 'In the better half of its field'),
      }
    default:
      return { words: 'Ranked', ...intervalClaim(verification.skill_interval) }
  }
}

/** Returns what the interval of a ranked entity shows, for titles that do not say it. */
function intervalClaim(
  range: Payloads['verification']['skill_interval'],
  standing = 'It has a rank',
): Omit<Claim, 'words'> {
  if (range !== null && range.upper < 0) {
    return { shown: 'Worse than the middle of its field, and not by bad luck alone' }
  }
  if (range !== null && range.lower > 0) {
    return {
      shown: 'Its interval lies above the middle of its field',
      notShown: 'what more its next title takes is below',
    }
  }
  return { shown: standing, notShown: 'that it is better than the middle of its field is not shown' }
}

/** A retired agent has no rank, except in a release of version 2 of the method. */
function standingOf({ rankings }: Payloads): string {
  return rankings.rank === null ? 'It has enough contested questions for a rank' : 'It has a rank'
}

function waitingOf({
  last_forecast_at: last,
  open_forecasts: waiting,
  next_close_at: closes,
}: Payloads['profile']): Omit<Claim, 'words'> {
  if (last === null) return { shown: 'It has made no forecast yet' }
  if (waiting === 0 || closes === null)
    return { shown: 'None of its forecasts is scored, and none is waiting' }
  return waiting === 1
    ? { shown: '1 forecast is waiting', notShown: `its question closes ${minuteOf(closes)}` }
    : {
        shown: `${waiting} forecasts are waiting`,
        notShown: `the first of their questions closes ${minuteOf(closes)}`,
      }
}

function earlyOf(metrics: Payloads['metrics'], rules: TitleRules): string {
  const { contested_questions: has, resolved_questions: resolved } = metrics
  if (has > 0) return `${has} of the ${rules.eligible_questions} contested questions that a rank takes`
  return `${counted(resolved, 'settled question')}, none of them contested`
}
