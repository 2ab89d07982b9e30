// `fvs credential key`: makes a key that signs credentials.
import { credentialKeyText, parseCredentialKey } from '../../pipeline/credentials/keys.ts'
import type { Report } from '../command-line/output.ts'

export function makeCredentialKey(seed: Uint8Array): Report {
  const signingKey = credentialKeyText(seed)
  const { multikey } = parseCredentialKey(signingKey)
  return {
    ok: true,
    json: { setting: 'CREDENTIAL_SIGNING_KEY', signing_key: signingKey, multikey },
    text: signingKey,
    aside: `The signing key on standard output is a secret and is not shown again. Give it to all jobs that make releases:
CREDENTIAL_SIGNING_KEY=z3u2…
For the sandbox, make another one and name it SANDBOX_CREDENTIAL_SIGNING_KEY.
After the next release /.well-known/did.json names its public half:
${multikey}`,
  }
}
