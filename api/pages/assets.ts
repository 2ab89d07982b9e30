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
  return assetOf(name, mediaType, readFileSync(new URL(source, import.meta.url)))
}

function assetOf(name: string, mediaType: string, bytes: Uint8Array): Asset {
  const sha256 = sha256Hex(bytes)
  return { path: `/assets/${sha256.slice(0, 16)}/${name}`, bytes, sha256, mediaType }
}

/** The build has bundled it. From the sources it is bundled here, to the same bytes. */
async function verifyScript(): Promise<Uint8Array> {
  const location = new URL('assets/verify.js', import.meta.url)
  if (!location.pathname.endsWith('/assets/verify.js')) return readFileSync(location)
  const { bundledForPages } = await import('./bundle.ts')
  return bundledForPages(location)
}

export const STYLE = asset('style.css', 'text/css')
export const ICON = asset('icon.svg', 'image/svg+xml')
/** Pages run the same file that verifiers take, so that both can read what it does. */
const PROOF_SCRIPT = asset('proof.js', 'text/javascript', '../../examples/verify.js')
/** Every check of a page, with the modules of the service that it shares. */
const VERIFY_SCRIPT = assetOf('verify.js', 'text/javascript', await verifyScript())

/** The scripts of a page with a check. */
export const CHECK_SCRIPTS = [PROOF_SCRIPT, VERIFY_SCRIPT]

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
  SHOW_SCRIPT,
  OPERATOR_SCRIPT,
  VERIFIERS['verify.py'],
]
