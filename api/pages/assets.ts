// The files that pages load, each under the hash of its content, so that a browser may keep it for ever.
import { readFileSync } from 'node:fs'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'

export interface Asset {
  /** Under which every environment serves it. */
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
/** Pages run the very file that verifiers take, so that both can read what it does. */
const PROOF_SCRIPT = asset('proof.js', 'text/javascript', '../../examples/verify.js')
const VERIFY_SCRIPT = asset('verify.js', 'text/javascript')

/** What a page with a check loads. */
export const CHECK_SCRIPTS = [PROOF_SCRIPT, VERIFY_SCRIPT]

export const ASSETS: readonly Asset[] = [STYLE, ICON, PROOF_SCRIPT, VERIFY_SCRIPT]
