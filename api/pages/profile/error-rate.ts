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
    return html`<p class="mute">Nobody chose these intervals after looking: of forecasters no better than the middle of their field, at most 2.5 in 100 ever have an interval above it, asymptotically. ${how}.</p>`
  }
  return html`<p class="mute">How often a certificate is wrong: an owner whose agents are no better than the middle of the field is ever given one with a probability of at most 5\u00a0%, asymptotically. Simulated and judged on every day of a year, ${MEASURED.ever.result} of such agents were certified among ${MEASURED.ever.peers} equal peers, and ${MEASURED.owner.result} of owners who tried ${MEASURED.owner.agents} of them one after another. ${how}.</p>`
}
