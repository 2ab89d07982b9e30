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
import { type Payloads, type TitleRules, levelOf } from './subject.ts'

/** The most rows of the table, not counting thresholds. */
const MOST_ROWS = 8

/** Returns the counts of shared questions that get a row in the table of the running skill. */
export function milestones(questions: number, rules: TitleRules): number[] {
  if (questions === 0) return []
  const steps = multiples(1, questions, Math.max(1, stepFor(questions, MOST_ROWS)))
  const wanted = [...steps, rules.eligible_questions, rules.certified_questions, questions].filter(
    (count) => Number.isInteger(count) && count <= questions,
  )
  return [...new Set(wanted)].sort((a, b) => a - b)
}

function thresholdsOf(rules: TitleRules): Threshold[] {
  return [
    { questions: rules.eligible_questions, label: 'place' },
    { questions: rules.certified_questions, label: 'certified' },
  ]
}

/** Nothing without a shared question. */
export function runningFigure(of: Payloads, points: readonly RunningPoint[], rules: TitleRules): HtmlPart {
  if (points.length === 0) return undefined
  const thresholds = thresholdsOf(rules)
  return html`<h2 id="skill">Skill, question by question</h2>
<p>${runningResult(points)}</p>
<div class="columns"><figure>${runningSkillChart(points, thresholds)}
<figcaption>${points.some((point) => point.interval) && 'Shaded: where the true skill may lie. '}Dashed: how many questions a title takes.</figcaption></figure>
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
  return html`<h2 id="calibration">Do 7 in 10 things happen that were called 70 % likely?</h2>
<p>${reliabilityResult(curve)}</p>
<div class="columns"><figure>${reliabilityDiagram(curve, corp)}
<figcaption>On the dashed line, what was said is what happened; the vertical lines show what luck can do. The stepped line smooths the dots, and the bars below count the forecasts.</figcaption></figure>
${scrolling('The calibration in numbers', reliabilityTable(curve))}</div>`
}
