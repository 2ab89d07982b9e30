// The code under a title, with which anyone finds again what the release said.
import { qrPicture } from '../charts/qr.ts'
import { checkPath } from '../check-code.ts'
import { type HtmlPart, html } from '../html.ts'
import { type Site, addressOf, linkTo } from '../site.ts'

/** @param code undefined if the release has none for the entity. */
export function codeLine(site: Site, code: string | undefined): HtmlPart {
  if (code === undefined) return undefined
  return html`<div class="code-line"><p>Code <a href="${linkTo(site, checkPath(code))}"><code>${code}</code></a> <small>finds these numbers again, and says what has changed since.</small></p>${codePicture(site, code)}</div>
`
}

/** Nothing where the service does not know its own address. */
export function codePicture(site: Site, code: string): HtmlPart {
  if (site.publicUrl === undefined) return undefined
  const address = addressOf(site, checkPath(code))
  return qrPicture(address, `QR code of ${address}`)
}
