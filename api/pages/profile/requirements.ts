// Compares the requirements of each title (METHODOLOGY §3) with what the entity has, by its verification
// alone.
import type { Title } from '../../../schemas/payloads.ts'
import { shapeOf } from '../award.ts'
import { type Html, html } from '../html.ts'
import { counted, percent, plain, signed } from '../numbers.ts'
import type { Payloads, TitleRules } from './subject.ts'

export interface Requirement {
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
 * Returns the titles in rising order. An entity has the last title whose requirements are met together with
 * those of all titles before it.
 */
export function requirementsOf({ verification }: Payloads, rules: TitleRules): TitleRequirements[] {
  const { contested_questions, priced_questions, evidence, coverage, voice_rule } = verification
  const { skill, skill_interval, median_skill, median_skill_interval } = verification
  const { market_skill, market_skill_interval } = verification
  const questions = (needed: number) => count('shared question', needed, contested_questions)
  const isEveryone = voice_rule === 'everyone'
  const skilled = (name: string, value: number | null, interval: Interval) => [
    atLeast(name, rules.least_skill, value, withSign),
    above(`lower end of the ${name}`, interval),
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

function above(rule: string, interval: Interval): Requirement {
  const lower = interval?.lower
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
${requirements.map(rowOf)}</tbody>
`,
)}</table>`
}

function rowOf({ rule, needed, has, isMet, missing }: Requirement): Html {
  const mark = isMet
    ? html`<span class="yes">✓\u00a0${has}</span>`
    : html`<span class="no">✗\u00a0${has}</span>`
  return html`<tr><td>${rule}</td><td class="n">${needed}</td><td>${mark}${missing !== undefined && `: ${missing}`}</td></tr>\n`
}
