// What anyone needs to check and to show a verification: its bytes, its signature, commands, and the badge.
import { type Badge } from '../charts/badge.ts'
import { type Html, type Part, html } from '../html.ts'
import { type Site, commandAddress, linkTo } from '../site.ts'

export interface Signed {
  /** The verification exactly as the API sends it. */
  text: string
  /** The header's value; undefined if signing is off. */
  signature: string | undefined
}

/** @param callsPath begins the paths of the API about the entity. */
export function checkSection(site: Site, { text, signature }: Signed, callsPath: string): Html {
  return html`<h2 id="check">Check it yourself</h2>
<p>The signed record behind this page, byte for byte:</p>
<pre id="payload">${text}</pre>
${signature === undefined ? html`<p>This service does not sign what it publishes.</p>` : signatureOf(site, signature)}
<details><summary>In a shell</summary><pre>curl -s -D headers.txt -o verification.json ${commandAddress(site, `${callsPath}/verification`)}
${signature !== undefined && html`grep -i x-service-signature headers.txt\nopenssl dgst -sha256 -hmac "$SIGNING_SECRET" -r verification.json`}</pre></details>`
}

function signatureOf(site: Site, signature: string): Part {
  return html`<p>Signature <code id="signature">${signature}</code></p>
<div class="state" data-insecure hidden><p>This page came over plain HTTP, where browsers offer no cryptography: the commands do the same.</p></div>
<form class="panel" data-check hidden><label>Signing secret, if the operator gave you one <small>It is used in this page and sent nowhere.</small><input name="secret" type="password" autocomplete="off" required></label>
<p><button>Check here</button></p>
<output aria-live="polite"></output></form>
<p class="mute"><a href="${linkTo(site, '/view/verify')}">Check another record</a></p>`
}

export function showSection(site: Site, badge: Badge, profilePath: string, callsPath: string): Html {
  const text = `${badge.label}: ${badge.message}`
  const image = commandAddress(site, `${callsPath}/badge.svg`)
  const target = commandAddress(site, profilePath)
  return html`<section class="screen"><h2 id="show">Show it</h2>
<p><img src="${linkTo(site, `${callsPath}/badge.svg`)}" alt="${text}" height="20"></p>
<p>The badge follows the current release. In Markdown:</p>
<pre>[![forecasts](${image})](${target})</pre>
<p>In HTML:</p>
<pre>${`<a href="${target}"><img src="${image}" alt="forecasts" height="20"></a>`}</pre></section>`
}
