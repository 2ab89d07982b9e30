// Compares the requirements of each title (METHODOLOGY §3) with what the entity has, by its verification
// alone.
import type { Badge, Certification } from '../../../schemas/payloads.ts'
import { shapeOf } from '../award.ts'
import { type Html, html } from '../html.ts'
import { counted, plain, signed } from '../numbers.ts'
import { type Payloads, type TitleRules, isAgent } from './subject.ts'

export interface Requirement {
  rule: string
  needed: string
  has: string
  isMet: boolean
  /** The missing amount, if it can be counted. */
  missing?: string
}

interface TitleRequirements {
  title: Certification | Badge
  /** The claim that the title makes about its holder. */
  says: string
  requirements: readonly Requirement[]
}

/**
 * Returns the titles in rising order. An agent has the last title whose requirements are met together with
 * those of all titles before it.
 */
export function requirementsOf(of: Payloads, rules: TitleRules): TitleRequirements[] {
  const {
    contested_questions: contested,
    clusters,
    evidence,
    skill_interval: skill,
    strict_skill_interval: strict,
    voice_rule: voices,
  } = of.verification
  const questions = (needed: number) => count('shared question', needed, contested)
  const ahead = above('skill at the bad end of luck', skill)
  const clustered = (needed: number) => count('separate group', needed, clusters, 'separate groups')
  const weighty = enough('evidence', rules.least_evidence, evidence)
  const strictly = strict === undefined ? [] : [above('the same, against what the others really got', strict)]
  const measured: Requirement = {
    rule: 'enough independent others',
    needed: 'yes',
    has: voices === 'recorded' ? 'yes' : 'no',
    isMet: voices === 'recorded',
  }
  const better = [clustered(rules.certified_clusters), ...weighty, ahead, ...strictly, measured]
  if (isAgent(of)) {
    const { crowd_skill_interval, crowd_evidence } = of.verification
    const crowd = above('skill against the crowd at the bad end of luck', crowd_skill_interval)
    const known = enough('evidence against the crowd', rules.least_evidence, crowd_evidence)
    return [
      {
        title: 'provisional',
        says: 'enough questions for a place',
        requirements: [questions(rules.eligible_questions)],
      },
      {
        title: 'certified',
        says: 'better than the middle one of the others',
        requirements: [questions(rules.certified_questions), ...better],
      },
      {
        title: 'expert',
        says: 'certified, and better than the crowd, the average of the others',
        requirements: [questions(rules.expert_questions), ...known, crowd],
      },
    ]
  }
  const { percentile } = of.verification
  const place = (needed: number): Requirement => ({
    rule: 'percentile among those ranked',
    needed: `≥ ${needed}`,
    has: percentile === null ? 'none yet' : plain(percentile, 2),
    isMet: percentile !== null && percentile >= needed,
  })
  return [
    {
      title: 'bronze',
      says: 'in the better half of those ranked',
      requirements: [questions(rules.eligible_questions), place(rules.bronze_percentile)],
    },
    {
      title: 'silver',
      says: 'in the best quarter',
      requirements: [place(rules.silver_percentile), clustered(rules.silver_clusters), measured],
    },
    {
      title: 'gold',
      says: 'in the best tenth, and better than the middle one of the others',
      requirements: [place(rules.gold_percentile), ...better],
    },
    {
      title: 'platinum',
      says: 'in the best hundredth, and better than the middle one of the others',
      requirements: [place(rules.platinum_percentile), ...better],
    },
  ]
}

function count(what: string, needed: number, has: number, many = `${what}s`): Requirement {
  return {
    rule: many,
    needed: `≥ ${needed}`,
    has: String(has),
    isMet: has >= needed,
    ...(has < needed && {
      missing: `${counted(needed - has, what, many)} more`.replace(/^(\S+) (.*) more$/, '$1 more $2'),
    }),
  }
}

function above(rule: string, interval: { lower: number } | null): Requirement {
  const lower = interval?.lower
  return {
    rule,
    needed: '> 0',
    has: lower === undefined ? 'none yet' : exact(lower),
    isMet: lower !== undefined && lower > 0,
  }
}

/** Nothing where the release does not say how much there is. */
function enough(rule: string, needed: number, has: number | undefined): Requirement[] {
  if (has === undefined) return []
  // With as many decimals as it takes to tell it from what is needed.
  const decimals = Math.abs(has - needed) < 0.005 ? 6 : 2
  return [{ rule, needed: `≥ ${needed}`, has: plain(has, decimals), isMet: has >= needed }]
}

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
