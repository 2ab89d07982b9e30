// The certificate of a profile on paper: the first page of its print, which can be handed over alone.
import { type HtmlPart, html } from '../html.ts'
import { shapeOf, titleInWords } from '../award.ts'
import { counted, grouped, signed } from '../numbers.ts'
import { type Site, addressOf, serviceName } from '../site.ts'
import { dayOf, interval, orNone, places } from '../wording.ts'
import { codePicture } from './code-line.ts'
import { type Payloads, awardOf, headingOf, idOf, kindOf, levelOf } from './subject.ts'

/** @param sentence says what is shown of it, and what is not. */
export function certificateOnPaper(
  site: Site,
  of: Payloads,
  {
    code,
    sentence,
    boardSize,
    path,
  }: { code: string | undefined; sentence: string; boardSize: number; path: string },
): HtmlPart {
  if (code === undefined) return undefined
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
  return html`<section class="paper certificate" aria-label="Certificate">
<p class="issuer">${serviceName(site)}${site.environment === 'sandbox' && ' · sandbox, simulated'}</p>
<p class="holder" role="heading" aria-level="1">${headingOf(of)}</p>
<p class="award-line">${shapeOf(title)} ${titleInWords(title)} ${kindOf(of)}</p>
<p>${sentence}</p>
<table><tbody>
${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>\n`)}</tbody></table>
<div class="check-it">${codePicture(site, code)}<div><p>Check it with the code</p><p class="code">${code}</p><p>at ${addressOf(site, '/view/verify')}</p><p>The code leads to what release ${verification.release} said, over ${counted(metrics.resolved_questions, 'settled question')}, and to what has changed since. Paper alone proves nothing.</p><p class="own">${addressOf(site, path)}</p></div></div>
</section>
`
}
