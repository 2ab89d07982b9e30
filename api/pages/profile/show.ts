// The section that hands out the badge and the card of a profile, as snippets for other pages.
import type { Badge } from '../charts/badge.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { type Site, commandAddress, linkTo } from '../site.ts'

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
