// The parts of a profile that its holder hands out: the certificate on paper, the credential, badge and card.
import type { Badge } from '../charts/badge.ts'
import { qrPicture } from '../charts/qr.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { type Site, addressOf, serviceName, linkTo, commandAddress } from '../site.ts'
import {
  shapeOf,
  titleInWords,
  counted,
  grouped,
  signed,
  dayOf,
  interval,
  orNone,
  places,
} from '../wording.ts'
import { type Payloads, awardOf, headingOf, idOf, kindOf, levelOf } from './subject.ts'

/**
 * Returns the first page of a profile's print, which can be handed over alone.
 *
 * @param sentence says what is shown of it, and what is not.
 */
export function certificateOnPaper(
  site: Site,
  payloads: Payloads,
  { sentence, boardSize, path }: { sentence: string; boardSize: number; path: string },
): Html {
  const { verification, metrics, rankings } = payloads
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
    [kindOf(payloads) === 'agent' ? 'Agent' : 'Forecaster', html`<code>${idOf(payloads)}</code>`],
    ['Method', verification.methodology_version],
  ]
  const title = awardOf(payloads)
  const address = addressOf(site, path)
  // A scanner needs the host.
  const picture = site.publicUrl !== undefined && qrPicture(address, `QR code of ${address}`)
  return html`<section class="paper certificate" aria-label="Certificate">
<p class="issuer">${serviceName(site)}${site.environment === 'sandbox' && ' · sandbox, simulated'}</p>
<p class="holder" role="heading" aria-level="1">${headingOf(payloads)}</p>
<p class="award-line">${shapeOf(title)} ${titleInWords(title)} ${kindOf(payloads)}</p>
<p>${sentence}</p>
<table><tbody>
${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>\n`)}</tbody></table>
<div class="check-it">${picture}<div><p>Check it at its address</p><p>${address}</p><p>The page there says what is so now. With <code>?release=${verification.release}</code> at its end, the address leads to what release ${verification.release} said, over ${counted(metrics.resolved_questions, 'settled question')}. Paper alone proves nothing.</p></div></div>
</section>
`
}

/** The members of the credential that pages show. */
export interface Certificate {
  name: string
  issuerName: string
  validFrom: string
  validUntil: string
}

/** @param callsPath begins the paths of the API about the entity. */
export function certificateLine(
  site: Site,
  { name, validUntil }: Certificate,
  callsPath: string,
  id: string,
): Html {
  const badge = html`<a href="${linkTo(site, `${callsPath}/badge.svg`)}" download="${id}.svg">badge that carries it</a>`
  return html`<p>“${name}”, until ${dayOf(validUntil)}: the <a href="${linkTo(site, `${callsPath}/credential`)}">Open Badges credential</a>, and the ${badge}. Wallets take them, and <a href="${linkTo(site, '/view/verify')}">anyone can check them</a>.</p>
`
}

/** Hands out the badge and the card, as snippets for other pages. */
export function showSection(
  site: Site,
  badge: Badge,
  { profilePath, callsPath, asOf }: { profilePath: string; callsPath: string; asOf: string },
  certificate: HtmlPart,
): Html {
  const words = `${badge.label}: ${badge.message} (${monthOf(asOf)})`
  const [image, card] = ['badge.svg', 'card.png'].map((name) => commandAddress(site, `${callsPath}/${name}`))
  const target = commandAddress(site, profilePath)
  const alt = words.replaceAll(/[[\]]/g, '\\$&')
  return html`<section class="screen"><h2 id="show">Show it</h2>
<p><img src="${linkTo(site, `${callsPath}/badge.svg`)}" alt="${words}" height="20"> in ${monthOf(asOf)}</p>
${certificate}<p>Badge and card follow the current release. In Markdown:</p>
${snippet(site, 'Markdown', `[![${alt}](${image})](${target})`)}<p>In HTML:</p>
${snippet(site, 'HTML', `<a href="${target}"><img src="${image}" alt="${words}" height="20"></a>`)}<p>The card, as chats show it for a link to this page. It is there as <a href="${linkTo(site, `${callsPath}/card.png`)}">PNG</a> and as <a href="${linkTo(site, `${callsPath}/card.svg`)}">SVG</a>:</p>
<p><img class="card" src="${linkTo(site, `${callsPath}/card.svg`)}" alt="The card: ${words}" width="600" height="315" loading="lazy"></p>
${snippet(site, 'Markdown of the card', `[![${alt}](${card})](${target})`)}</section>`
}

/** A script fills in the address of the service where it does not know that itself, and adds a button. */
function snippet(site: Site, name: string, text: string): Html {
  const root = site.publicUrl === undefined && html` data-root="${linkTo(site, '')}"`
  return html`<pre data-copy="${name}"${root}>${text}</pre>\n`
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

function monthOf(asOf: string): string {
  return `${MONTHS[Number(asOf.slice(5, 7)) - 1]} ${asOf.slice(0, 4)}`
}
