// The check of records: its page, with one field for links, names and records, the section of a profile, and
// the commands of a shell. These run nothing but the verifier that the service itself serves, and nothing
// that a registry of packages has under some name.
import { ENVIRONMENTS } from '../../schemas/values.ts'
import { MOUNTS } from '../mounts.ts'
import { CHECK_SCRIPT, VERIFIERS } from './assets.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { page } from './layout.ts'
import { type Site, commandAddress, linkTo } from './site.ts'

const PATH = '/agents/$AGENT_ID/verification'
const RECORD = html`<label>The record, exactly as it was sent <small>paste it, or drop the file here</small><textarea name="payload" rows="7" spellcheck="false" autocomplete="off" required></textarea></label>`

/** The paths of the documents of this service's issuers, that of the page's environment first. */
function issuerPaths({ environment }: Site): string {
  const others = ENVIRONMENTS.filter((other) => other !== environment)
  return [environment, ...others].map((each) => `${MOUNTS[each]}/did.json`).join(' ')
}

/** A text that was pasted, and the answer to it. */
interface RecordToVerify {
  q: string
  notice: string
}

export function verifyPage(site: Site, record?: RecordToVerify): Html {
  return page({
    site,
    title: 'Check',
    description: 'Find out whether a link, a picture or a record is genuine.',
    path: '/view/verify',
    isIndexed: record === undefined,
    scripts: [CHECK_SCRIPT],
    intro:
      'Did somebody show you how well a person or a program forecasts? Find out here whether this service said so, from a link, a picture, a name, a text or a file.',
    content: html`<form class="panel check-one" action="${linkTo(site, '/view/verify')}" data-check="any" data-mount="${MOUNTS[site.environment]}" data-issuers="${issuerPaths(site)}">
<label>Paste an address, an id, a name, or the text of a record or a credential <small>or drop a badge or a file anywhere on this page</small><textarea name="q" rows="3" spellcheck="false" autocomplete="off" autocapitalize="off" required${record && html` aria-describedby="said"`}>${record && html`\n${record.q}`}</textarea></label>
${record && html`<p id="said" class="no" role="alert">✗ ${record.notice}</p>\n`}<p><button>Check</button></p>
<output aria-live="polite"></output>
<details><summary>A file, or a key of your own</summary>
<label>A badge, a credential or a record <input id="file" type="file" accept=".svg,.json"></label>
<label>Public key of the log, if you have it from elsewhere <small>left empty, it is the key that this service names</small><input id="vkey" autocomplete="off" spellcheck="false"></label>
</details>
</form>
<p>Records and files are checked in your browser, which asks nobody but this service: <strong>their text does not leave this page.</strong> Addresses, ids and names lead to the page of what they name.</p>
<noscript><div class="state"><p>Records and files need JavaScript here. The commands below check them without it.</p></div></noscript>
${INSECURE}
<h2 id="experts">For experts: fields by hand</h2>
<details><summary>With a proof, without a secret</summary>
<p>A proof leads from a record to a signed checkpoint of the public log, where any later change would be noticed. Take the key of the log from somewhere other than the service.</p>
<form class="panel" data-check="proof" hidden>
${RECORD}
<label>Its proof, or the receipt of a forecast <small>open the address of the record with <code>/proof</code> at its end; or the header <code>X-Service-Receipt</code></small><textarea name="proof" rows="5" spellcheck="false" autocomplete="off" required></textarea></label>
<label>Public key of the log <small>and those of witnesses who must have signed too, with a space between keys</small><input name="vkey" autocomplete="off" spellcheck="false" required></label>
<p><button>Check the proof</button></p>
<output aria-live="polite"></output>
</form></details>
<details><summary>With the signing secret</summary>
<p>The operator gives the secret to those who verify. It does not leave this page.</p>
<form class="panel" data-check="secret" hidden>
${RECORD}
<label>Its header <code>X-Service-Signature</code> <input name="signature" autocomplete="off" spellcheck="false" placeholder="v1=…" required></label>
<label>The signing secret <input name="secret" type="password" autocomplete="off" required></label>
<p><button>Check the signature</button></p>
<output aria-live="polite"></output>
</form></details>
<h2>In a shell</h2>
<p>The verifier is one file without a dependency, <a href="${linkTo(site, VERIFIERS['verify.py'].path)}">for Python</a> or <a href="${linkTo(site, VERIFIERS['verify.js'].path)}">for Node</a>, and this page runs the same checks. Read it before you run it, and compare its hash with that of the file in the repository, or, for Node, with that of the file that <code>node jobs/build.ts</code> makes there. No registry of packages has a program of this service.</p>
<pre>${verifierCommands(site, 'verify.py', PATH).join('\n')}</pre>
<pre>${verifierCommands(site, 'verify.js', PATH).join('\n')}</pre>
<p>With the signing secret no verifier is needed:</p>
<pre>curl -s -D headers.txt -o verification.json ${commandAddress(site, PATH)}
grep -i x-service-signature headers.txt
openssl dgst -sha256 -hmac "$SIGNING_SECRET" -r verification.json</pre>
<p>The signature holds if the digest is one of those after <code>v1=</code>. During a change of the secret there are two.</p>
<h2>What this shows, and what not</h2>
<p>A page of this service shows that it publishes those numbers: compare them with what you were shown. A certificate that holds shows that whoever has the key of this service gave the title, and has not taken it back. A proof shows that the log has these bytes, and that whoever has its key signed that. A signature shows that somebody who has the secret signed these bytes; those who verify have it too. The last three show that nobody changed a number on the way.</p>
<p>None shows that the numbers are right: the <a href="${linkTo(site, '/view/methodology')}">method</a> says how anyone derives them again. Read for yourself whom the record is about, and whether it is of the sandbox.</p>`,
  })
}

export interface Signed {
  /** The verification exactly as the API sends it. */
  text: string
  /** The header's value; undefined if signing is off. */
  signature: string | undefined
  /** The path of its proof; undefined where there is no public log. */
  proofPath: string | undefined
}

/** Shown instead of the forms on a page over plain HTTP. */
const INSECURE = html`<div class="state" data-insecure hidden><p>This page came over plain HTTP, where browsers offer no cryptography. Open it over HTTPS, or use the commands below.</p></div>`

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

const PROGRAMS = { 'verify.py': 'python3', 'verify.js': 'node' }

/** Returns the lines that take a verifier, compare it with its hash, and run it on the record at a path. */
function verifierCommands(site: Site, file: keyof typeof VERIFIERS, recordPath: string): string[] {
  const { path, sha256 } = VERIFIERS[file]
  return [
    `curl -s -o ${file} "${commandAddress(site, path)}"`,
    `echo '${sha256}  ${file}' | sha256sum -c &&`,
    `  ${PROGRAMS[file]} ${file} "${commandAddress(site, recordPath)}" "$LOG_VKEY"`,
  ]
}
