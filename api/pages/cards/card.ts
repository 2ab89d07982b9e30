// A card: the words of a release about an entity, on a picture of 1200 × 630 to be shown elsewhere. It is a
// list of marks, which become SVG, and that becomes PNG.
import { profilePath } from '../../../schemas/entity-paths.ts'
import type { EntityType } from '../../../schemas/tables.ts'
import { type Verification, TITLE_COLORS } from '../charts/badge.ts'
import { qrModules, qrPath } from '../charts/qr.ts'
import { type Html, html } from '../html.ts'
import { levelOf, unnamed } from '../profile/subject.ts'
import { type Site, addressOf, serviceName } from '../site.ts'
import { titleInWords, titleOf, shapeText, grouped, signed, interval, places } from '../wording.ts'
import { type Weight, canDraw, cutTo, textWidth, isMeasured } from './font.ts'

const CARD_WIDTH = 1200
const CARD_HEIGHT = 630

type Mark =
  | { kind: 'box'; x: number; y: number; width: number; height: number; color: string }
  | { kind: 'text'; x: number; y: number; size: number; weight: Weight; color: string; text: string }
  | { kind: 'modules'; x: number; y: number; scale: number; modules: readonly (readonly boolean[])[] }

export interface Card {
  marks: readonly Mark[]
  /** The card in words. */
  words: string
}

export interface CardSubject {
  entityType: EntityType
  entityId: string
  name: string | null
  verification: Verification
  /** The ranks between which it lies, among all on its board; undefined without a rank. */
  place: { lower: number; upper: number; boardSize: number } | undefined
}

const [INK, QUIET, RULE, WHITE] = ['#1f2328', '#57606a', '#c8d0d8', '#ffffff']
const LEFT = 64
const HEAD = 92
/** The room of texts beside the QR code. */
const ROOM = 740
const SKILL_AXIS = { from: LEFT, to: LEFT + ROOM, y: 412 }

/** @param isPicture whether only those characters can be shown that the font has. */
export function cardOf(
  site: Site,
  subject: CardSubject,
  eligibleQuestions: number,
  isPicture: boolean,
): Card {
  const { entityType, entityId, verification, place } = subject
  const title = titleOf(verification)
  const { skill, skill_interval: range, contested_questions: questions } = verification
  const isShown = subject.name !== null && (!isPicture || canDraw('bold', subject.name))
  const name = isShown ? subject.name! : unnamed(entityType, entityId)
  const titleWords =
    title === 'none'
      ? `No title · ${entityType}`
      : `${shapeText(title)} ${capital(titleInWords(title))} ${entityType}`
  const shown = title === 'none' ? null : skill
  const skillWords = shown === null ? 'No place yet' : `Skill ${signed(shown, 2)}`
  const rangeWords =
    shown !== null && range
      ? `between ${interval(range, 2).replace(' to ', ' and ')}, ${levelOf(range)} sure`
      : ''
  const facts = [
    shown === null
      ? `${questions} of the ${eligibleQuestions} shared questions that a place takes`
      : `${grouped(questions)} shared questions`,
    ...(place ? [`place ${places(place)} of ${grouped(place.boardSize)}`] : []),
  ].join(' · ')
  const marks: Mark[] = [
    ...frame(site, `release ${verification.release} · ${verification.as_of.slice(0, 10)}`),
    ...heading(
      name,
      isShown || subject.name === null ? '' : 'Their name has characters that this picture cannot show.',
    ),
    text(LEFT, 272, 42, 'bold', TITLE_COLORS[title], titleWords),
    text(LEFT, 352, 42, 'bold', INK, skillWords),
    text(LEFT + textWidth('bold', 42, skillWords) + 20, 352, 24, 'regular', QUIET, rangeWords),
    ...(shown === null ? [] : skillBar(shown, range, TITLE_COLORS[title])),
    text(LEFT, 518, 30, 'regular', INK, facts),
    ...checkMarks(site, profilePath(entityType, entityId)),
  ]
  return {
    marks,
    words: [`${name}: ${titleWords}`, skillWords, rangeWords, facts].filter(Boolean).join(', '),
  }
}

/** A card of an entity of which nothing is published: the same for all of them. */
export function emptyCard(site: Site, entityType: EntityType, subject: 'unreleased' | 'unknown'): Card {
  const words = subject === 'unknown' ? `Unknown ${entityType}` : `${capital(entityType)} in the next release`
  const why =
    subject === 'unknown'
      ? 'This service has published nothing under this id.'
      : 'It is registered, and no release says anything about it yet.'
  return {
    marks: [
      ...frame(site, ''),
      text(LEFT, 300, 60, 'bold', QUIET, words),
      text(LEFT, 370, 30, 'regular', QUIET, why),
    ],
    words: `${words}. ${why}`,
  }
}

function frame(site: Site, right: string): Mark[] {
  const isSandbox = site.environment === 'sandbox'
  const [back, front] = isSandbox ? ['#ffe9a8', '#3d2b00'] : ['#24292f', WHITE]
  const given = serviceName(site)
  const service = canDraw('bold', given) ? given : 'Forecast verification'
  const name = isSandbox ? `SANDBOX · ${service}` : service
  const words = isSandbox && right !== '' ? `simulated · ${right}` : right
  const end = CARD_WIDTH - LEFT - textWidth('regular', 22, words)
  const stripes = Array.from({ length: isSandbox ? 30 : 0 }, (_, index) =>
    box(index * 40, HEAD - 10, 20, 10, '#3d2b00'),
  )
  return [
    box(0, 0, CARD_WIDTH, CARD_HEIGHT, WHITE),
    box(0, 0, CARD_WIDTH, HEAD, back),
    ...stripes,
    text(LEFT, 57, 32, 'bold', front, cutTo(end - LEFT - 40, 'bold', 32, name)),
    text(end, 57, 22, 'regular', front, words),
  ]
}

function heading(name: string, note: string): Mark[] {
  const size = [64, 48].find((each) => textWidth('bold', each, name) <= CARD_WIDTH - 2 * LEFT) ?? 40
  return [
    text(LEFT, 190, size, 'bold', INK, cutTo(CARD_WIDTH - 2 * LEFT, 'bold', size, name)),
    text(LEFT, 222, 20, 'regular', QUIET, note),
  ]
}

/** The axis is from −1 to +1; an arrow marks what reaches beyond. */
function skillBar(skill: number, range: Verification['skill_interval'], color: string): Mark[] {
  const { from, to, y } = SKILL_AXIS
  const at = (value: number) => Math.round(from + ((Math.min(1, Math.max(-1, value)) + 1) / 2) * (to - from))
  const marks = [box(from, y - 1, to - from, 2, RULE), box(at(0) - 1, y - 22, 2, 44, QUIET)]
  if (range) {
    const [lower, upper] = [at(range.lower), at(range.upper)]
    marks.push(box(lower, y - 8, Math.max(2, upper - lower), 16, color))
    if (range.lower < -1) marks.push(text(from - 30, y + 9, 26, 'bold', color, '←'))
    if (range.upper > 1) marks.push(text(to + 4, y + 9, 26, 'bold', color, '→'))
  }
  marks.push(box(at(skill) - 6, y - 20, 12, 40, WHITE), box(at(skill) - 4, y - 18, 8, 36, INK))
  const zero = '0: as good as the average of the others'
  return [
    ...marks,
    text(from, y + 48, 20, 'regular', QUIET, '−1'),
    text(at(0) - textWidth('regular', 20, zero) / 2, y + 48, 20, 'regular', QUIET, zero),
    text(to - textWidth('regular', 20, '+1 perfect'), y + 48, 20, 'regular', QUIET, '+1 perfect'),
  ]
}

/** The address of the page, and its QR code; nothing where the service does not know its own address. */
function checkMarks(site: Site, path: string): Mark[] {
  if (site.publicUrl === undefined) return []
  const address = addressOf(site, path)
  const start = LEFT + textWidth('bold', 28, 'Check:') + 16
  const shown = cutTo(CARD_WIDTH - LEFT - start, 'regular', 22, address.replace(/^https?:\/\//, ''))
  const modules = qrModules(address)
  const scale = Math.floor(300 / modules.length)
  const side = modules.length * scale
  return [
    box(LEFT, 548, CARD_WIDTH - 2 * LEFT, 2, RULE),
    text(LEFT, 594, 28, 'bold', INK, 'Check:'),
    text(start, 594, 22, 'regular', QUIET, shown),
    { kind: 'modules', x: CARD_WIDTH - LEFT - side, y: 240, scale, modules },
  ]
}

function capital(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

function box(x: number, y: number, width: number, height: number, color: string): Mark {
  return { kind: 'box', x, y, width, height, color }
}

function text(x: number, y: number, size: number, weight: Weight, color: string, words: string): Mark {
  return { kind: 'text', x: Math.round(x), y, size, weight, color, text: words }
}

export function cardSvg({ marks, words }: Card): Html {
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${CARD_WIDTH}" height="${CARD_HEIGHT}" viewBox="0 0 ${CARD_WIDTH} ${CARD_HEIGHT}" role="img" aria-labelledby="card" font-family="DejaVu Sans,Verdana,sans-serif">
<title id="card">${words}</title>
${marks.map((mark) => html`${drawn(mark)}`)}</svg>
`
}

function drawn(mark: Mark): Html {
  switch (mark.kind) {
    case 'box':
      return html`<rect x="${mark.x}" y="${mark.y}" width="${mark.width}" height="${mark.height}" fill="${mark.color}"/>\n`
    case 'modules':
      return html`<path transform="translate(${mark.x} ${mark.y}) scale(${mark.scale})" shape-rendering="crispEdges" d="${qrPath(mark.modules)}"/>\n`
    case 'text': {
      if (mark.text === '') return html``
      const weight = mark.weight === 'bold' && html` font-weight="bold"`
      // The widths of other scripts are not known here.
      const width =
        isMeasured(mark.weight, mark.text) &&
        html` textLength="${Math.round(textWidth(mark.weight, mark.size, mark.text))}" lengthAdjust="spacingAndGlyphs"`
      return html`<text x="${mark.x}" y="${mark.y}" font-size="${mark.size}"${weight} fill="${mark.color}"${width} direction="ltr" unicode-bidi="isolate">${mark.text}</text>\n`
    }
  }
}
