// The profile of a registered agent that no release has covered yet.
import { type Html, html } from '../html.ts'
import { page } from '../layout.ts'
import { withQuery } from '../links.ts'
import { profilePath } from '../../../schemas/entity-paths.ts'
import { type Site, linkTo } from '../site.ts'
import { nextRelease } from '../states.ts'
import { time } from '../wording.ts'
import { unnamed } from './subject.ts'

export function unreleasedPage(
  site: Site,
  { agent_id: id, registered_at: registeredAt }: { agent_id: string; registered_at: string },
  nextReleaseAt: Date | undefined,
): Html {
  const name = unnamed('agent', id)
  return page({
    site,
    title: `${name}: in no release yet`,
    heading: name,
    description: 'A registered agent that no release has covered yet.',
    path: profilePath('agent', id),
    kind: 'profile',
    isIndexed: false,
    content: html`<p class="mute">agent · <code>${id}</code></p>
<p class="lead">Registered at ${time(registeredAt)}. It has made no forecast that a release has taken in. It is in the first one after its first forecast: until then nothing is published about it, not even its name.</p>
<p>Each <a href="${linkTo(site, withQuery('/view/questions', { status: 'open' }))}">open question</a> says how to answer it. ${nextRelease(nextReleaseAt)}</p>`,
  })
}
