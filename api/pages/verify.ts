// The page on which anyone checks a certificate or a record: in the browser, or else in a shell.
import { CERTIFICATE_SCRIPTS, VERIFIERS } from './assets.ts'
import { ENVIRONMENTS } from '../../schemas/values.ts'
import { MOUNTS } from '../mounts.ts'
import { type Html, html } from './html.ts'
import { page } from './layout.ts'
import { INSECURE } from './profile/check.ts'
import { type Site, commandAddress, linkTo } from './site.ts'
import { verifierCommands } from './verifier.ts'

const PATH = '/agents/$AGENT_ID/verification'
const RECORD = html`<label>The record, exactly as it was sent <small>paste it, or drop the file here</small><textarea name="payload" rows="7" spellcheck="false" autocomplete="off" required></textarea></label>`

/** The paths of the documents of this service's issuers, that of the page's environment first. */
function issuerPaths({ environment }: Site): string {
  const others = ENVIRONMENTS.filter((other) => other !== environment)
  return [environment, ...others].map((each) => `${MOUNTS[each]}/did.json`).join(' ')
}

export function verifyPage(site: Site): Html {
  return page({
    site,
    title: 'Check a record',
    description: 'Check in your browser that a certificate or a record is what the service published.',
    path: '/view/verify',
    scripts: CERTIFICATE_SCRIPTS,
    content: html`<p class="lead">Whether a certificate or a record is what this service published. The checks run in your browser, and ask nobody but this service. <strong>A record, a proof or a secret that you enter does not leave this page.</strong></p>
<noscript><div class="state"><p>The checks in this page need JavaScript. The commands below do the same.</p></div></noscript>
${INSECURE}
<h2 id="certificate">A certificate</h2>
<p>Badge files and Open Badges credentials of this service. The check asks the service for its keys, for the list of revoked credentials, and for the record of the holder with its proof.</p>
<form class="panel" data-check="certificate" data-issuers="${issuerPaths(site)}" hidden>
<label>The credential, or a link to it <small>paste it, or drop the badge anywhere on this page</small><textarea name="payload" rows="5" spellcheck="false" autocomplete="off" required></textarea></label>
<label>or the file of the badge <input name="file" type="file" accept=".svg,.png,.json"></label>
<label>Public key of the log, as you know it from elsewhere <small>left empty, it is the key that this service names</small><input name="vkey" autocomplete="off" spellcheck="false"></label>
<p><button>Check the certificate</button></p>
<output aria-live="polite"></output>
</form>
<h2 id="proof">With a proof, without a secret</h2>
<p>A proof leads from a record to a signed checkpoint of the public log, in which nothing can be changed unseen. Take the key of the log from somewhere other than the service.</p>
<form class="panel" data-check="proof" hidden>
${RECORD}
<label>Its proof, or the receipt of a forecast <small>what the path of the record answers with <code>/proof</code> behind it, or the header <code>X-Service-Receipt</code></small><textarea name="proof" rows="5" spellcheck="false" autocomplete="off" required></textarea></label>
<label>Public key of the log <small>and those of witnesses who must have signed too, with a space between keys</small><input name="vkey" autocomplete="off" spellcheck="false" required></label>
<p><button>Check the proof</button></p>
<output aria-live="polite"></output>
</form>
<h2 id="secret">With the signing secret</h2>
<p>The operator gives the secret to those who verify.</p>
<form class="panel" data-check="secret" hidden>
${RECORD}
<label>Its header <code>X-Service-Signature</code> <input name="signature" autocomplete="off" spellcheck="false" placeholder="v1=…" required></label>
<label>The signing secret <input name="secret" type="password" autocomplete="off" required></label>
<p><button>Check the signature</button></p>
<output aria-live="polite"></output>
</form>
<h2>In a shell</h2>
<p>The verifier is one file without a dependency, <a href="${linkTo(site, VERIFIERS['verify.py'].path)}">for Python</a> or <a href="${linkTo(site, VERIFIERS['verify.js'].path)}">for Node</a>, and the latter is what this page runs. Read it before you run it, and compare its hash with that of the file in the repository. No registry of packages has a program of this service.</p>
<pre>${verifierCommands(site, 'verify.py', PATH).join('\n')}</pre>
<pre>${verifierCommands(site, 'verify.js', PATH).join('\n')}</pre>
<p>With the signing secret no verifier is needed:</p>
<pre>curl -s -D headers.txt -o verification.json ${commandAddress(site, PATH)}
grep -i x-service-signature headers.txt
openssl dgst -sha256 -hmac "$SIGNING_SECRET" -r verification.json</pre>
<p>The signature holds if the digest is one of those after <code>v1=</code>. During a change of the secret there are two.</p>
<h2>What this shows, and what not</h2>
<p>A certificate that holds shows that whoever has the key of this service gave the title, and has not taken it back. A proof shows that the log has these bytes, and that whoever has its key signed that. A signature shows that somebody who has the secret signed these bytes; those who verify have it too. All three show that nobody changed a number on the way.</p>
<p>None shows that the numbers are right: the <a href="${linkTo(site, '/view/methodology')}">method</a> says how anyone derives them again. Read for yourself whom the record is about, and whether it is of the sandbox.</p>`,
  })
}
