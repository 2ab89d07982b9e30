// The certificate of a profile on paper: the first page of its print, which can be handed over alone.
import { type Html, type HtmlPart, html } from '../html.ts'
import { shapeOf, titleInWords } from '../award.ts'
import { qrPicture } from '../charts/qr.ts'
import { counted, grouped, signed } from '../numbers.ts'
import { type Site, addressOf, serviceName } from '../site.ts'
import { dayOf, interval, orNone, places } from '../wording.ts'
import { type Payloads, awardOf, headingOf, idOf, kindOf, levelOf } from './subject.ts'

/** @param sentence says what is shown of it, and what is not. */
export function certificateOnPaper(
  site: Site,
  of: Payloads,
  { sentence, boardSize, path }: { sentence: string; boardSize: number; path: string },
): Html {
  const { verification, metrics, rankings } = of
  const { skill, skill_interval: range } = verification
  const place = rankings.rank_interval
  const rows: [string, HtmlPart][] = [
    ['Skill', orNone(skill, signed)],
    [
      'It lies between',
      range && skill !== null ? `${interval(range).replace(' to ', ' and ')} (${levelOf(range)} sure)` : '–',
    ],
    ['Shared questions', grouped(metrics.contested_questions)],
    ['Place', place && rankings.rank !== null ? `${places(place)} of ${grouped(boardSize)}` : '–'],
    ['Release', html`${verification.release}, of ${dayOf(verification.as_of)}`],
    [kindOf(of) === 'agent' ? 'Agent' : 'Forecaster', html`<code>${idOf(of)}</code>`],
    ['Method', verification.methodology_version],
  ]
  const title = awardOf(of)
  const address = addressOf(site, path)
  // A scanner needs the host.
  const picture = site.publicUrl !== undefined && qrPicture(address, `QR code of ${address}`)
  return html`<section class="paper certificate" aria-label="Certificate">
<p class="issuer">${serviceName(site)}${site.environment === 'sandbox' && ' · sandbox, simulated'}</p>
<p class="holder" role="heading" aria-level="1">${headingOf(of)}</p>
<p class="award-line">${shapeOf(title)} ${titleInWords(title)} ${kindOf(of)}</p>
<p>${sentence}</p>
<table><tbody>
${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>\n`)}</tbody></table>
<div class="check-it">${picture}<div><p>Check it at its address</p><p>${address}</p><p>The page there says what is so now. With <code>?release=${verification.release}</code> at its end, the address leads to what release ${verification.release} said, over ${counted(metrics.resolved_questions, 'settled question')}. Paper alone proves nothing.</p></div></div>
</section>
`
}
