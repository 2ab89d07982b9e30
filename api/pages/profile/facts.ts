// The first numbers of a profile, each with what it means.
import { notSure } from '../charts/running-skill.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { counted, grouped, percent, plain, signed } from '../numbers.ts'
import type { Site } from '../site.ts'
import { term } from '../terms.ts'
import { endOf, interval, orNone, places } from '../wording.ts'
import { type Payloads, type TitleRules, kindOf, levelOf, retiredAt } from './subject.ts'

/**
 * Nothing without a settled question.
 *
 * @param boardSize how many have a place with it, itself among them; 0 if it has none.
 */
export function facts(site: Site, of: Payloads, rules: TitleRules, boardSize: number): HtmlPart {
  const { metrics } = of
  if (metrics.resolved_questions === 0) return undefined
  return html`<dl class="facts">
${fact(term(site, 'skill', 'Skill'), orNone(metrics.skill, signed), skillNote(metrics))}
${overFact(site, 'median-skill', 'Skill over the median', metrics.median_skill, metrics.median_skill_interval)}
${metrics.priced_questions > 0 && overFact(site, 'market-skill', 'Skill over the market', metrics.market_skill, metrics.market_skill_interval)}
${placeFact(site, of, rules, boardSize)}
${fact('Questions', grouped(metrics.resolved_questions), questionsNote(site, metrics))}
${answeredFact(site, metrics)}
${evidenceFact(site, metrics, rules)}
${coverageFact(site, metrics)}
${fact(term(site, 'brier', 'Error (Brier)'), orNone(metrics.brier, plain), '0 is perfect, 0.25 is always 50\u00a0%')}
${fact(term(site, 'calibration', 'Calibration'), orNone(metrics.expected_calibration_error, inPoints), 'percentage points off on average; 0 is perfect')}
</dl>`
}

/** Writes a share in percentage points. */
function inPoints(share: number): string {
  return plain(share * 100, 1)
}

function fact(name: HtmlPart, value: string, note: HtmlPart): Html {
  return html`<div><dt>${name}</dt><dd>${value}<small>${note}</small></dd></div>`
}

function skillNote({
  skill,
  skill_interval: range,
  contested_questions: questions,
}: Payloads['metrics']): string {
  if (skill === null) return 'no shared question yet'
  if (range === null) return notSure(questions)
  return `${interval(range)}, ${levelOf(range)} sure`
}

function placeFact(site: Site, of: Payloads, rules: TitleRules, boardSize: number): Html {
  const name = html`${term(site, 'place', 'Place')} among ${kindOf(of)}s`
  const { rank, rank_interval: range, contested_questions: has, pool } = of.rankings
  if (rank === null || range === null) {
    if (retiredAt(of) !== null) return fact(name, '–', 'retired: places are for those who take part')
    return fact(name, '–', `${rules.eligible_questions - has} more shared questions to go`)
  }
  const where = pool !== null && html`in the ${term(site, 'pool', 'pool')} ${endOf(pool)}; `
  return fact(
    name,
    `${places(range)} of ${grouped(boardSize)}`,
    html`${where}${sureOf(of, range, boardSize)}`,
  )
}

/** Says how sure a place is. */
function sureOf(
  { rankings: { rank }, metrics }: Payloads,
  { lower, upper }: { lower: number; upper: number },
  boardSize: number,
): string {
  if (boardSize === 1) return 'nobody else has a place there'
  if (lower < upper) {
    if (metrics.skill_interval === null) return 'could be any place: all questions count as one event'
    return `too close to call; number ${grouped(rank!)} by skill alone`
  }
  return upper === boardSize ? 'the last, clearly' : 'clearly apart from all others'
}

/** The skill over another yardstick than the average. */
function overFact(
  site: Site,
  key: 'median-skill' | 'market-skill',
  name: string,
  skill: number | null,
  range: Payloads['metrics']['skill_interval'],
): Html {
  const note = range === null ? 'no interval' : `${interval(range)}, ${levelOf(range)} sure`
  return fact(term(site, key, name), orNone(skill, signed), note)
}

function answeredFact(site: Site, metrics: Payloads['metrics']): HtmlPart {
  const { answered_share: answered, offered_questions: offered } = metrics
  if (answered === null) return undefined
  const note = `of the ${counted(offered, 'question')} that were open to it`
  return fact(term(site, 'answered', 'Answered'), percent(answered), note)
}

function evidenceFact(site: Site, { evidence }: Payloads['metrics'], rules: TitleRules): Html {
  const note = `a certificate takes ${rules.least_evidence} at least`
  return fact(term(site, 'evidence', 'Evidence'), plain(evidence, 1), note)
}

function coverageFact(site: Site, { coverage }: Payloads['metrics']): Html {
  const note = 'of the time of the shared questions it was judged; 75\u00a0% at most'
  return fact(term(site, 'coverage', 'Coverage'), orNone(coverage, percent), note)
}

function questionsNote(site: Site, { contested_questions: contested, forecasts }: Payloads['metrics']): Html {
  return html`${grouped(contested)} ${term(site, 'shared-questions', 'shared')} with others; ${counted(forecasts, 'forecast')}`
}
