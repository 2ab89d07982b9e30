// The first numbers of a profile, each with what it means.
import { notSure } from '../charts/running-skill.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { counted, grouped, percent, plain, signed } from '../numbers.ts'
import { endOf, interval, orNone, otherRanks } from '../wording.ts'
import { type Payloads, type TitleRules, kindOf, levelOf, retiredAt } from './subject.ts'

/**
 * Nothing without a settled question.
 *
 * @param boardSize how many are ranked with it, itself among them; 0 if it has no rank.
 */
export function facts(of: Payloads, rules: TitleRules, boardSize: number): HtmlPart {
  const { metrics } = of
  if (metrics.resolved_questions === 0) return undefined
  return html`<dl class="facts">
${fact('Skill against the field', orNone(metrics.skill, signed), skillNote(metrics))}
${rankFact(of, rules, boardSize)}
${fact('Settled questions', grouped(metrics.resolved_questions), questionsNote(metrics))}
${evidenceFact(metrics, rules)}
${coverageFact(metrics)}
${fact('Brier score', orNone(metrics.brier, plain), '0 is perfect, 0.25 is always 50\u00a0%')}
${fact('Calibration error', orNone(metrics.expected_calibration_error, plain), '0 is perfect')}
</dl>`
}

function fact(name: string, value: string, note: HtmlPart): Html {
  return html`<div><dt>${name}</dt><dd>${value}<small>${note}</small></dd></div>`
}

function skillNote({
  skill,
  skill_interval: range,
  strict_skill_interval: strict,
  contested_questions: questions,
}: Payloads['metrics']): string {
  if (skill === null) return 'no contested question yet'
  if (range === null) return notSure(questions)
  const strictly = strict ? `; strict interval ${interval(strict)}` : ''
  return `${interval(range)}, ${levelOf(range)}${strictly}`
}

function rankFact(of: Payloads, rules: TitleRules, boardSize: number): Html {
  const name = `Rank among ${kindOf(of)}s`
  const { rank, rank_interval: range, contested_questions: has, pool } = of.rankings
  if (rank === null || range === null) {
    if (retiredAt(of) !== null) return fact(name, '–', 'retired: ranks are for those who take part')
    return fact(name, '–', `${rules.eligible_questions - has} more contested questions to go`)
  }
  const others = otherRanks(range)
  const alone = boardSize === 1 ? 'nobody else has a rank there' : 'told apart from all others with a rank'
  const sure = others === undefined ? alone : `cannot be told apart from ranks ${others}`
  // Version 2 of the method has one board for all.
  const where = pool !== undefined && pool !== null && html`ranked in the pool ${endOf(pool)}; `
  return fact(name, `${grouped(rank)} of ${grouped(boardSize)}`, html`${where}${sure}`)
}

function evidenceFact({ evidence }: Payloads['metrics'], rules: TitleRules): HtmlPart {
  if (evidence === undefined) return undefined
  const note = `times as much as ten imaginary questions; a certificate takes ${rules.least_evidence}`
  return fact('Evidence', plain(evidence, 1), note)
}

function coverageFact({ coverage }: Payloads['metrics']): HtmlPart {
  if (coverage === undefined) return undefined
  return fact('Coverage', orNone(coverage, percent), 'of the time of its contested questions')
}

function questionsNote({
  contested_questions: contested,
  forecasts,
  imported_share: share,
}: Payloads['metrics']): string {
  const imported = share === null || share === 0 ? 'none' : share === 1 ? 'all' : percent(share)
  return `${grouped(contested)} contested; ${counted(forecasts, 'forecast')}, ${imported} imported`
}
