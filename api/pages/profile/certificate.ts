// The certificate of an entity: what its profile says of its Open Badges credential, and the files that carry
// it.
import { type Html, html } from '../html.ts'
import { type Site, linkTo } from '../site.ts'
import { dayOf } from '../wording.ts'

/** The members of the credential that pages show. */
export interface Certificate {
  name: string
  issuerName: string
  validFrom: string
  validUntil: string
}

/** @param callsPath begins the paths of the API about the entity. */
export function certificateLine(
  site: Site,
  { name, validUntil }: Certificate,
  callsPath: string,
  id: string,
): Html {
  const badge = html`<a href="${linkTo(site, `${callsPath}/badge.svg`)}" download="${id}.svg">badge that carries it</a>`
  return html`<p>“${name}”, until ${dayOf(validUntil)}: the <a href="${linkTo(site, `${callsPath}/credential`)}">Open Badges credential</a>, and the ${badge}. Wallets take them, and <a href="${linkTo(site, '/view/verify')}">anyone can check them</a>.</p>
`
}
