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
${placeFact(site, of, rules, boardSize)}
${fact('Questions', grouped(metrics.resolved_questions), questionsNote(site, metrics))}
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
  // Version 2 of the method has one board for all.
  const where =
    pool !== undefined && pool !== null && html`in the ${term(site, 'pool', 'pool')} ${endOf(pool)}; `
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

function evidenceFact(site: Site, { evidence }: Payloads['metrics'], rules: TitleRules): HtmlPart {
  if (evidence === undefined) return undefined
  const note = `a certificate takes ${rules.least_evidence} at least`
  return fact(term(site, 'evidence', 'Evidence'), plain(evidence, 1), note)
}

function coverageFact(site: Site, { coverage }: Payloads['metrics']): HtmlPart {
  if (coverage === undefined) return undefined
  return fact(
    term(site, 'coverage', 'Coverage'),
    orNone(coverage, percent),
    'of the time of the shared questions',
  )
}

function questionsNote(
  site: Site,
  { contested_questions: contested, forecasts, imported_share: share }: Payloads['metrics'],
): Html {
  const loaded =
    share !== null &&
    share > 0 &&
    html`, ${share === 1 ? 'all' : percent(share)} ${term(site, 'imported', 'imported')}`
  return html`${grouped(contested)} ${term(site, 'shared-questions', 'shared')} with others; ${counted(forecasts, 'forecast')}${loaded}`
}
