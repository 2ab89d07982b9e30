// The section for checking a verification: its bytes, its proof, its signature, and commands.
import { type Html, type HtmlPart, html } from '../html.ts'
import { type Site, commandAddress, linkTo } from '../site.ts'
import { verifierCommands } from '../verifier.ts'

export interface Signed {
  /** The verification exactly as the API sends it. */
  text: string
  /** The header's value; undefined if signing is off. */
  signature: string | undefined
  /** The path of its proof; undefined where there is no public log. */
  proofPath: string | undefined
}

/** Shown instead of the forms on a page over plain HTTP. */
export const INSECURE = html`<div class="state" data-insecure hidden><p>This page came over plain HTTP, where browsers offer no cryptography. Open it over HTTPS, or use the commands below.</p></div>`

/** @param callsPath begins the paths of the API about the entity. */
export function checkSection(site: Site, signed: Signed, callsPath: string): Html {
  const { text, signature, proofPath } = signed
  return html`<h2 id="check">Check it yourself</h2>
<p>The record behind this page, byte for byte:</p>
<pre id="payload">${text}</pre>
${(proofPath ?? signature) !== undefined && INSECURE}
${proofPath !== undefined && proofOf(site, proofPath)}
${signature === undefined ? html`<p>This service does not sign its answers.</p>` : signatureOf(signature)}
${(proofPath ?? signature) !== undefined && html`<details><summary>In a shell</summary><pre>${commands(site, signed, callsPath).join('\n')}</pre></details>`}
<p class="mute"><a href="${linkTo(site, '/view/verify')}">Check another record</a></p>`
}

function commands(site: Site, { signature, proofPath }: Signed, callsPath: string): string[] {
  const path = `${callsPath}/verification`
  const lines = proofPath === undefined ? [] : verifierCommands(site, 'verify.py', path)
  if (signature !== undefined) {
    lines.push(
      `curl -s -D headers.txt -o verification.json ${commandAddress(site, path)}`,
      'grep -i x-service-signature headers.txt',
      'openssl dgst -sha256 -hmac "$SIGNING_SECRET" -r verification.json',
    )
  }
  return lines
}

/** A form that takes the proof of the record from the service. */
function proofOf(site: Site, proofPath: string): HtmlPart {
  const [proof, vkey] = [linkTo(site, proofPath), linkTo(site, '/log/vkey')]
  return html`<p>Its <a href="${proof}">proof</a> shows that it is in the <a href="${linkTo(site, '/log/checkpoint')}">public log</a>, where any later change would be noticed. Your browser checks that without any secret.</p>
<form class="panel" data-check="proof" data-proof="${proof}" data-vkey="${vkey}" hidden><label>Public key of the log, if you have it from elsewhere <small>If it is left empty, the <a href="${vkey}">key that this service names</a> is used.</small><input name="vkey" autocomplete="off" spellcheck="false"></label>
<p><button>Check the proof</button></p>
<output aria-live="polite"></output></form>`
}

function signatureOf(signature: string): HtmlPart {
  return html`<p>Signature <code id="signature">${signature}</code></p>
<form class="panel" data-check="secret" hidden><label>Signing secret, if the operator gave you one <small>It is used in this page and sent nowhere.</small><input name="secret" type="password" autocomplete="off" required></label>
<p><button>Check the signature</button></p>
<output aria-live="polite"></output></form>`
}
