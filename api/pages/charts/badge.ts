// The badge: one line from a release about an entity, as a picture and for shields.io.
import type { z } from 'zod'
import type { badgeText } from '../../../schemas/answers.ts'
import type { Title, agentVerification, forecasterVerification } from '../../../schemas/payloads.ts'
import type { EntityType } from '../../../schemas/tables.ts'
import type { Environment } from '../../../schemas/values.ts'
import { titleOf, signed } from '../wording.ts'
import { type Html, html } from '../html.ts'

export type Verification = z.infer<typeof agentVerification> | z.infer<typeof forecasterVerification>

/** An entity that has no verification is either registered and in no release yet, or unknown. */
export type BadgeSubject = Verification | 'unreleased' | 'unknown'

export interface Badge {
  label: string
  message: string
  /** Dark enough for white text: at least 4.5 : 1. */
  color: string
  isSandbox: boolean
}

const GREY = '#57606a'
const GREEN = '#1a7f37'
const BLUE = '#2458a8'

export const TITLE_COLORS: Record<Title, string> = { none: GREY, measured: BLUE, certified: GREEN }

/** `eligibleQuestions` is the number of contested questions that a rank takes. */
export function badgeOf(
  environment: Environment,
  entityType: EntityType,
  subject: BadgeSubject,
  eligibleQuestions: number,
): Badge {
  const isSandbox = environment === 'sandbox'
  return {
    label: isSandbox ? 'forecasts (sandbox)' : 'forecasts',
    ...claimOf(entityType, subject, eligibleQuestions),
    isSandbox,
  }
}

function claimOf(
  entityType: EntityType,
  subject: BadgeSubject,
  eligibleQuestions: number,
): Pick<Badge, 'message' | 'color'> {
  if (subject === 'unknown') return { message: `unknown ${entityType}`, color: GREY }
  if (subject === 'unreleased') return { message: 'in the next release', color: GREY }
  const { skill, skill_interval: interval, contested_questions: has } = subject
  const marks = marksOf(subject)
  const title = titleOf(subject)
  if (title === 'none' || skill === null) {
    return { message: `not ranked (${has} of ${eligibleQuestions})${marks}`, color: GREY }
  }
  const range = interval ? ` [${signed(interval.lower, 2)}, ${signed(interval.upper, 2)}]` : ''
  return {
    message: `${title}${marks} ${signed(skill, 2)}${range}`,
    color: TITLE_COLORS[title],
  }
}

/** As in “, imported”: what a title alone would hide. */
function marksOf(subject: Verification): string {
  const { witnessed_share: share } = subject
  const isImported = share !== null && share < 1
  const isRetired = 'retired_at' in subject && subject.retired_at !== null
  return `${isImported ? ', imported' : ''}${isRetired ? ', retired' : ''}`
}

export function badgeJson({ label, message, color }: Badge): z.infer<typeof badgeText> {
  return { schemaVersion: 1, label, message, color }
}

const HEIGHT = 20
const PADDING = 6

export function badgeSvg({ label, message, color, isSandbox }: Badge): Html {
  const widthOf = (text: string) => textWidth(text) + 2 * PADDING
  const labelWidth = widthOf(label)
  const width = labelWidth + widthOf(message)
  const words = (text: string, from: number, fill: string) =>
    html`<text x="${from + PADDING}" y="14" fill="${fill}" textLength="${textWidth(text)}">${text}</text>`
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-labelledby="badge">
<title id="badge">${label}: ${message}</title>
${isSandbox && STRIPES}<clipPath id="corners"><rect width="${width}" height="${HEIGHT}" rx="3"/></clipPath>
<g clip-path="url(#corners)"><path fill="${isSandbox ? 'url(#stripes)' : '#24292f'}" d="M0 0H${labelWidth}V${HEIGHT}H0z"/><path fill="${color}" d="M${labelWidth} 0H${width}V${HEIGHT}H${labelWidth}z"/></g>
<g font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${words(label, 0, isSandbox ? '#3d2b00' : '#fff')}${words(message, labelWidth, '#fff')}</g>
</svg>
`
}

const STRIPES = html`<pattern id="stripes" width="12" height="12" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path fill="#ffe9a8" d="M0 0H12V12H0z"/><path fill="#ffd24d" d="M0 0H6V12H0z"/></pattern>
`

/**
 * The widths of characters in Verdana of 11 px, in tenths of a pixel. Other characters are as wide as a
 * digit.
 */
const WIDTHS: Record<string, number> = {
  ...widths(30, 'il'),
  ...widths(39, ' fj.,'),
  ...widths(45, 't[]()r'),
  ...widths(58, 'csz'),
  ...widths(66, 'aekovxy'),
  ...widths(69, 'bdghnpqu'),
  ...widths(90, 'w+−'),
  ...widths(107, 'm'),
}
const OTHER_WIDTH = 70

function widths(tenths: number, characters: string): Record<string, number> {
  return Object.fromEntries(Array.from(characters, (character) => [character, tenths]))
}

function textWidth(text: string): number {
  const tenths = Array.from(text, (character) => WIDTHS[character] ?? OTHER_WIDTH)
  return Math.ceil(tenths.reduce((sum, width) => sum + width, 0) / 10)
}
