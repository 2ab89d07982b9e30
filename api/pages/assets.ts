// The files that pages load. The path of each contains the hash of its content, so that a browser may keep it
// for ever.
import { readFileSync } from 'node:fs'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'

export interface Asset {
  /** Every environment serves the file under this path. */
  path: string
  bytes: Uint8Array
  mediaType: string
}

function asset(name: string, mediaType: string, source = `assets/${name}`): Asset {
  const bytes = readFileSync(new URL(source, import.meta.url))
  return { path: `/assets/${sha256Hex(bytes).slice(0, 16)}/${name}`, bytes, mediaType }
}

export const STYLE = asset('style.css', 'text/css')
export const ICON = asset('icon.svg', 'image/svg+xml')
/** Pages run the same file that verifiers take, so that both can read what it does. */
const PROOF_SCRIPT = asset('proof.js', 'text/javascript', '../../examples/verify.js')
const VERIFY_SCRIPT = asset('verify.js', 'text/javascript')

/** The scripts of a page with a check. */
export const CHECK_SCRIPTS = [PROOF_SCRIPT, VERIFY_SCRIPT]

export const ASSETS: readonly Asset[] = [STYLE, ICON, PROOF_SCRIPT, VERIFY_SCRIPT]
