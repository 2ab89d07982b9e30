// The page on which anyone checks a record: in the browser, or in a shell if the browser cannot.
import { CHECK_SCRIPTS, VERIFIERS } from './assets.ts'
import { type Html, html } from './html.ts'
import { page } from './layout.ts'
import { INSECURE } from './profile/check.ts'
import { type Site, commandAddress, linkTo } from './site.ts'
import { verifierCommands } from './verifier.ts'

const PATH = '/agents/$AGENT_ID/verification'
const RECORD = html`<label>The record, exactly as it was sent <small>paste it, or drop the file here</small><textarea name="payload" rows="7" spellcheck="false" autocomplete="off" required></textarea></label>`

export function verifyPage(site: Site): Html {
  return page({
    site,
    title: 'Check a record',
    description: 'Check in your browser that a record is what the service published, byte for byte.',
    path: '/view/verify',
    scripts: CHECK_SCRIPTS,
    content: html`<p class="lead">Whether a record is what this service published, byte for byte. The check runs in your browser: <strong>nothing that you enter leaves this page.</strong></p>
<noscript><div class="state"><p>The checks in this page need JavaScript. The commands below do the same.</p></div></noscript>
${INSECURE}
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
<p>A proof shows that the log has these bytes, and that whoever has its key signed that. A signature shows that somebody who has the secret signed these bytes; those who verify have it too. Both show that nobody changed a number on the way.</p>
<p>Neither shows that the numbers are right: the <a href="${linkTo(site, '/view/methodology')}">method</a> says how anyone derives them again. Read for yourself whom the record is about, and whether it is of the sandbox.</p>`,
  })
}
