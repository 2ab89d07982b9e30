// Says how often a title is wrong: the promised rate, and the measured one. A test compares these figures
// with docs/methodology.md.
import type { EntityType } from '../../../schemas/tables.ts'
import { type Html, html } from '../html.ts'
import { type Site, linkTo } from '../site.ts'

/** Rows of the table of measurements. */
export const MEASURED = {
  ever: { result: '0.3 %' },
  owner: { agents: 5, result: '0 %' },
}

export function errorRate(site: Site, entityType: EntityType): Html {
  const how = html`<a href="${linkTo(site, '/view/methodology#measured')}">How it was measured</a>`
  if (entityType === 'forecaster') {
    return html`<p class="mute">Could a title be luck? Of forecasters who are no better than the average of the others, at most 1 in 40 would ever get a certificate, in the long run. ${how}.</p>`
  }
  return html`<p class="mute">Could a title be luck? Of owners whose agents are no better than the average of the others, at most 1 in 20 would ever get a certificate, in the long run. In simulations of a year it was ${MEASURED.ever.result} of agents exactly as good as that average, and ${MEASURED.owner.result} of owners of ${MEASURED.owner.agents} agents as good as their peers. ${how}.</p>`
}
