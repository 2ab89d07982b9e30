// Says how often a title is wrong: the promised rate, and the measured one. A test compares these figures
// with docs/methodology.md.
import type { EntityType } from '../../../schemas/tables.ts'
import { type Html, html } from '../html.ts'
import { type Site, linkTo } from '../site.ts'

/** Rows of the table of measurements. */
export const MEASURED = {
  ever: { peers: 20, result: '0.5 % (0.2 to 1.5)' },
  owner: { agents: 20, result: '1.7 % (0.5 to 5.9)' },
}

export function errorRate(site: Site, entityType: EntityType): Html {
  const how = html`<a href="${linkTo(site, '/view/methodology#measured')}">How it was measured</a>`
  if (entityType === 'forecaster') {
    return html`<p class="mute">Could a title be luck? Of forecasters who are no better than the middle one of the others, at most 1 in 40 would ever get gold or platinum, in the long run. ${how}.</p>`
  }
  return html`<p class="mute">Could a title be luck? Of owners whose agents are no better than the middle one of the others, at most 1 in 20 would ever get a certificate, in the long run. In a simulated year it was ${MEASURED.ever.result} of such agents among ${MEASURED.ever.peers} equal ones, and ${MEASURED.owner.result} of owners who tried ${MEASURED.owner.agents} of them one after another. ${how}.</p>`
}
