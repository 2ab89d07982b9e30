// The two charts of a profile, each with its result in words and its numbers in a table.
import { reliabilityDiagram, reliabilityResult, reliabilityTable } from '../charts/reliability.ts'
import {
  type RunningPoint,
  type Threshold,
  runningResult,
  runningSkillChart,
} from '../charts/running-skill.ts'
import { multiples, stepFor } from '../charts/axis.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { grouped, signed } from '../numbers.ts'
import { scrolling } from '../table.ts'
import { interval } from '../wording.ts'
import { type Payloads, type TitleRules, isAgent, levelOf } from './subject.ts'

/** The most rows of the table, not counting thresholds. */
const MOST_ROWS = 8

/** Returns the counts of contested questions that get a row in the table of the running skill. */
export function milestones(questions: number, rules: TitleRules): number[] {
  if (questions === 0) return []
  const steps = multiples(1, questions, Math.max(1, stepFor(questions, MOST_ROWS)))
  const titles = [rules.eligible_questions, rules.certified_questions, rules.expert_questions]
  const wanted = [...steps, ...titles, questions].filter(
    (count) => Number.isInteger(count) && count <= questions,
  )
  return [...new Set(wanted)].sort((a, b) => a - b)
}

function thresholdsOf(of: Payloads, rules: TitleRules): Threshold[] {
  const ranked = { questions: rules.eligible_questions, label: 'ranked' }
  if (!isAgent(of)) return [ranked]
  return [
    ranked,
    { questions: rules.certified_questions, label: 'certified' },
    { questions: rules.expert_questions, label: 'expert' },
  ]
}

/** Nothing without a contested question. */
export function runningFigure(of: Payloads, points: readonly RunningPoint[], rules: TitleRules): HtmlPart {
  if (points.length === 0) return undefined
  const thresholds = thresholdsOf(of, rules)
  const asked = thresholds.map(({ questions, label }) => `${questions} (${label})`).join(', ')
  return html`<h2 id="skill">Skill, question by question</h2>
<p>${runningResult(points)}</p>
<div class="columns"><figure>${runningSkillChart(points, thresholds)}
<figcaption>The band is the interval, cut at the frame. Dashed: the least number of questions for a title, ${asked}. “The middle of the field” is as good as the middle voice on the same questions at the same times. What others did counts as of this release.</figcaption></figure>
${scrolling('The running skill in numbers', runningTable(of, points, milestones(points.at(-1)!.questions, rules)))}</div>`
}

function runningTable(of: Payloads, points: readonly RunningPoint[], shown: readonly number[]): Html {
  const level = of.metrics.skill_interval ? `${levelOf(of.metrics.skill_interval)} interval` : 'interval'
  const rows = points.filter(({ questions }) => shown.includes(questions))
  return html`<table><caption>The same in numbers</caption>
<thead><tr><th scope="col">questions</th><th scope="col" class="n">skill</th><th scope="col" class="n">${level}</th></tr></thead>
<tbody>
${rows.map(
  (point) =>
    html`<tr><th scope="row">${grouped(point.questions)}</th><td class="n">${signed(point.skill)}</td><td class="n">${interval(point.interval)}</td></tr>\n`,
)}</tbody></table>`
}

/** Nothing without a settled question. */
export function reliabilityFigure({ metrics: { calibration_curve: curve, corp } }: Payloads): HtmlPart {
  if (corp === null) return undefined
  return html`<h2 id="calibration">When it says 70 %, does it happen 7 times in 10?</h2>
<p>${reliabilityResult(curve)}</p>
<div class="columns"><figure>${reliabilityDiagram(curve, corp)}
<figcaption>Dots on the dashed line are perfect; their lines are 95 % Wilson intervals. The stepped line is how often it happened, recalibrated (CORP). Below: how many forecasts.</figcaption></figure>
${scrolling('The calibration in numbers', reliabilityTable(curve))}</div>`
}
