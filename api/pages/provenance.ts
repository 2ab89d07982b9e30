// The source of a page's numbers.
import { type Html, html } from './html.ts'
import { releasePath } from './links.ts'
import { type Site, linkTo } from './site.ts'
import { time } from './wording.ts'

/** Returns a line such as “Release 12, as of 2026-11-21 21:46 UTC, method 4.0.0”. */
export function releaseLine(
  site: Site,
  { release, as_of, methodology_version }: { release: number; as_of: string; methodology_version: string },
): Html {
  return html`<a href="${linkTo(site, releasePath(release))}">Release ${release}</a>, as of ${time(as_of)}, <a href="${linkTo(site, '/view/methodology')}">method ${methodology_version}</a>`
}
