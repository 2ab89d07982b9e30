// The page on which anyone checks a signed record: in the browser, or in a shell where the browser cannot.
import { VERIFY_SCRIPT } from './assets.ts'
import { type Html, html } from './html.ts'
import { page } from './layout.ts'
import { type Site, commandAddress, linkTo } from './site.ts'

export function verifyPage(site: Site): Html {
  const address = commandAddress(site, '/agents/$AGENT_ID/verification')
  return page({
    site,
    title: 'Check a record',
    description: 'Check in your browser that a verification is what the service signed, byte for byte.',
    path: '/view/verify',
    scripts: [VERIFY_SCRIPT],
    content: html`<p class="lead">Whether a verification is what this service signed, byte for byte.</p>
<p>The operator gives the signing secret to those who verify. This page computes the signature in your browser: <strong>neither the record nor the secret leaves it.</strong></p>
<noscript><div class="state"><p>The check in this page needs JavaScript. The commands below do the same.</p></div></noscript>
<div class="state" data-insecure hidden><p>This page came over plain HTTP, where browsers offer no cryptography. Open it over HTTPS, or use the commands below.</p></div>
<form class="panel" data-check hidden>
<label>The record, exactly as it was sent <small>paste it, or drop the file here</small><textarea name="payload" rows="7" spellcheck="false" autocomplete="off" required></textarea></label>
<label>Its header <code>X-Service-Signature</code> <input name="signature" autocomplete="off" spellcheck="false" placeholder="v1=…" required></label>
<label>The signing secret <input name="secret" type="password" autocomplete="off" required></label>
<p><button>Check</button></p>
<output aria-live="polite"></output>
</form>
<h2>In a shell</h2>
<pre>curl -s -D headers.txt -o verification.json ${address}
grep -i x-service-signature headers.txt
openssl dgst -sha256 -hmac "$SIGNING_SECRET" -r verification.json</pre>
<p>The record holds if the digest is one of those after <code>v1=</code>. During a change of the secret there are two.</p>
<h2>What this shows, and what not</h2>
<p>It shows that whoever has the secret signed exactly these bytes: nobody changed a number on the way. It does not show that the secret is this service’s alone, since those who verify have it too, and it does not show that the numbers are right: the <a href="${linkTo(site, '/view/methodology')}">method</a> says how anyone derives them again.</p>`,
  })
}
