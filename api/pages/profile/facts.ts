// The five numbers of a profile, each with what it means.
import { type Html, type HtmlPart, html } from '../html.ts'
import { counted, grouped, percent, plain, signed } from '../numbers.ts'
import { interval, orNone, ranks } from '../wording.ts'
import { type Payloads, type TitleRules, kindOf, levelOf } from './subject.ts'

/** Nothing without a resolved question. */
export function facts(of: Payloads, rules: TitleRules): HtmlPart {
  const { metrics } = of
  if (metrics.resolved_questions === 0) return undefined
  return html`<dl class="facts">
${fact('Skill against the field', orNone(metrics.skill, signed), skillNote(metrics))}
${rankFact(of, rules)}
${fact('Resolved questions', grouped(metrics.resolved_questions), questionsNote(metrics))}
${fact('Brier score', orNone(metrics.brier, plain), '0 is perfect, 0.25 is always 50\u00a0%')}
${fact('Calibration error', orNone(metrics.expected_calibration_error, plain), '0 is perfect')}
</dl>`
}

function fact(name: string, value: string, note: HtmlPart): Html {
  return html`<div><dt>${name}</dt><dd>${value}<small>${note}</small></dd></div>`
}

function skillNote({ skill, skill_interval: range }: Payloads['metrics']): string {
  if (skill === null) return 'no contested question yet'
  if (range === null) return 'too few to say how sure'
  return `${interval(range)}, ${levelOf(range)}`
}

function rankFact(of: Payloads, rules: TitleRules): Html {
  const name = `Rank among ${kindOf(of)}s`
  const { rank, rank_interval: range, field_size: field, contested_questions: has } = of.rankings
  if (rank === null || range === null) {
    return fact(name, '–', `${rules.eligible_questions - has} more contested questions to go`)
  }
  const place = `${grouped(rank)} of ${grouped(field)}`
  if (field === 1) return fact(name, place, 'nobody else has a rank yet')
  const sure =
    range.lower === range.upper
      ? 'told apart from the rest of its field'
      : `cannot be told apart from ranks ${ranks(range)}`
  const isOnePerOwner = kindOf(of) === 'agent' && of.verification.voice_rule === 'recorded'
  return fact(name, place, isOnePerOwner ? `${sure}; the field has one agent of each owner` : sure)
}

function questionsNote({
  contested_questions: contested,
  forecasts,
  imported_share: share,
}: Payloads['metrics']): string {
  const imported = share === null || share === 0 ? 'none' : share === 1 ? 'all' : percent(share)
  return `${grouped(contested)} contested; ${counted(forecasts, 'forecast')}, ${imported} imported`
}
