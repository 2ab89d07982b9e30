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

/** The build has bundled them. From the sources they are bundled here, to the same bytes. */
async function bundles(): Promise<{ page: Uint8Array; verifier: Uint8Array }> {
  const page = new URL('assets/verify.js', import.meta.url)
  const verifier = new URL('../../examples/verify.ts', import.meta.url)
  if (!verifier.pathname.endsWith('.ts'))
    return { page: readFileSync(page), verifier: readFileSync(verifier) }
  const { bundledForPages, bundledForReaders } = await import('./bundle.ts')
  return { page: await bundledForPages(page), verifier: await bundledForReaders(verifier) }
}
const { page, verifier } = await bundles()

export const STYLE = asset('style.css', 'text/css')
export const ICON = asset('icon.svg', 'image/svg+xml')
/** Every check of a page, with the modules of the service that it shares. */
export const CHECK_SCRIPT = assetOf('verify.js', 'text/javascript', page)

/** The script that completes snippets. */
export const SHOW_SCRIPT = asset('show.js', 'text/javascript')

/** The script of the operator's page. */
export const OPERATOR_SCRIPT = asset('operator.js', 'text/javascript')

/** The verifiers that pages tell readers to take from the service, by the name of the file. */
export const VERIFIERS = {
  'verify.py': asset('verify.py', 'text/x-python', '../../examples/verify.py'),
  'verify.js': assetOf('proof.js', 'text/javascript', verifier),
}

export const ASSETS: readonly Asset[] = [
  STYLE,
  ICON,
  CHECK_SCRIPT,
  SHOW_SCRIPT,
  OPERATOR_SCRIPT,
  ...Object.values(VERIFIERS),
]
