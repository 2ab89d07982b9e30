// Addresses as QR codes, dark on light in both schemes because scanners expect that.
import { encode } from 'uqr'
import { type Html, html } from '../html.ts'

/** Modules of light around the code, as ISO/IEC 18004 asks for. */
const QUIET = 4

/** Returns the rows of modules, true where dark, with the quiet zone. */
export function qrModules(text: string): boolean[][] {
  return encode(text, { ecc: 'M', border: QUIET }).data
}

/** Returns the dark modules as a path, with one unit a module and a rectangle for each run in a row. */
export function qrPath(modules: readonly (readonly boolean[])[]): string {
  return modules
    .map((row, y) => {
      const runs = [
        ...row
          .map((isDark) => (isDark ? '#' : ' '))
          .join('')
          .matchAll(/#+/g),
      ]
      return runs.map(({ index, 0: run }) => `M${index} ${y}h${run.length}v1h-${run.length}z`).join('')
    })
    .join('')
}

/** @param label says to where the code leads. */
export function qrPicture(text: string, label: string): Html {
  const modules = qrModules(text)
  const size = modules.length
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" width="${2 * size}" height="${2 * size}" role="img" aria-label="${label}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${qrPath(modules)}"/></svg>`
}
