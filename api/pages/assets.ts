// The files that pages load. The path of each contains the hash of its content, so that a browser may keep it
// for ever.
import { readFileSync } from 'node:fs'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'

export interface Asset {
  /** Every environment serves the file under this path. */
  path: string
  bytes: Uint8Array
  /** In hexadecimal digits. */
  sha256: string
  mediaType: string
}

function asset(name: string, mediaType: string, source = `assets/${name}`): Asset {
  const bytes = readFileSync(new URL(source, import.meta.url))
  const sha256 = sha256Hex(bytes)
  return { path: `/assets/${sha256.slice(0, 16)}/${name}`, bytes, sha256, mediaType }
}

export const STYLE = asset('style.css', 'text/css')
export const ICON = asset('icon.svg', 'image/svg+xml')
/** Pages run the same file that verifiers take, so that both can read what it does. */
const PROOF_SCRIPT = asset('proof.js', 'text/javascript', '../../examples/verify.js')
const VERIFY_SCRIPT = asset('verify.js', 'text/javascript')
const QUADS_SCRIPT = asset('credential-quads.js', 'text/javascript')
const CERTIFICATE_SCRIPT = asset('certificate.js', 'text/javascript')
const ANYTHING_SCRIPT = asset('anything.js', 'text/javascript')

/** The scripts of a page with a check. */
export const CHECK_SCRIPTS = [PROOF_SCRIPT, VERIFY_SCRIPT]

/** The scripts of the page that checks anything. */
export const ANYTHING_SCRIPTS = [
  PROOF_SCRIPT,
  QUADS_SCRIPT,
  CERTIFICATE_SCRIPT,
  ANYTHING_SCRIPT,
  VERIFY_SCRIPT,
]

/** The script that completes snippets. */
export const SHOW_SCRIPT = asset('show.js', 'text/javascript')

/** The script of the operator's page. */
export const OPERATOR_SCRIPT = asset('operator.js', 'text/javascript')

/** The verifiers that pages tell readers to take from the service, by the name of the file. */
export const VERIFIERS = {
  'verify.py': asset('verify.py', 'text/x-python', '../../examples/verify.py'),
  'verify.js': PROOF_SCRIPT,
}

export const ASSETS: readonly Asset[] = [
  STYLE,
  ICON,
  PROOF_SCRIPT,
  VERIFY_SCRIPT,
  QUADS_SCRIPT,
  CERTIFICATE_SCRIPT,
  ANYTHING_SCRIPT,
  SHOW_SCRIPT,
  OPERATOR_SCRIPT,
  VERIFIERS['verify.py'],
]
