// Cards as SVG, whose viewers bring the letters of any script.
import { qrPath } from '../charts/qr.ts'
import { type Html, html } from '../html.ts'
import { type Card, CARD_HEIGHT, type Mark, CARD_WIDTH } from './card.ts'
import { isMeasured, textWidth } from './font.ts'

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
