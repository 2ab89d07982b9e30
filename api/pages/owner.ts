// The page of an owner: lists all its agents, so that none can be shown as if it were the only one.
import type { z } from 'zod'
import type { owner } from '../../schemas/payloads.ts'
import { type Html, html, scrolling } from './html.ts'
import { page, releaseLine } from './layout.ts'
import { entityLink } from './profile/subject.ts'
import { type Site, linkTo } from './site.ts'
import { term } from './terms.ts'
import { awarded, counted, signed, dayOf, endOf, named, orNone, ownerWord } from './wording.ts'

export type Owner = z.infer<typeof owner>

export function ownerPage(site: Site, owned: Owner): Html {
  const {
    owner_id: id,
    agents,
    scored_agents: scored,
    certified,
    best_skill: best,
    middle_skill: middle,
  } = owned
  const path = `/owners/${encodeURIComponent(id)}`
  const result = `${counted(agents.length, 'agent')}, ${certified === 0 ? 'none' : certified} certified`
  return page({
    site,
    title: `${id}: ${result}`,
    heading: html`Agents of ${named(id)}`,
    description: `Every agent that the operator has recorded for this owner, that has made a forecast and that is not hidden, retired ones too: ${result}.`,
    path: `/view${path}`,
    isIndexed: certified > 0,
    alternates: { 'application/json': path },
    source: html`${releaseLine(site, owned)}. The same for programs: <a href="${linkTo(site, path)}">owner</a>`,
    intro:
      'All agents of one owner, which are programs that forecast. Who tries many may show only the luckiest. So all that are recorded are here, retired ones too, and each further one has to prove more.',
    content: html`<p class="mute">Owner, ${ownerWord(id)}; names are chosen by their owners</p>
<p class="lead">${result}.</p>
<dl class="facts">
<div><dt>Agents</dt><dd>${agents.length}<small>${scored} with a scored question</small></dd></div>
<div><dt>Certified</dt><dd>${certified}<small>luck is very unlikely as the reason for their skill</small></dd></div>
<div><dt>Best ${term(site, 'skill', 'skill')}</dt><dd>${orNone(best, signed)}<small>of those with enough questions for a place</small></dd></div>
<div><dt>Middle skill</dt><dd>${orNone(middle, signed)}<small>half of them have more</small></dd></div>
</dl>
${scrolling('Agents', agentTable(site, owned))}`,
  })
}

function agentTable(site: Site, { agents }: Owner): Html {
  return html`<table><caption>In the order of their ids</caption>
<thead><tr><th scope="col">agent</th><th scope="col">${term(site, 'title', 'title')}</th><th scope="col" class="n">skill</th></tr></thead>
<tbody>
${agents.map(
  (agent) =>
    html`<tr><th scope="row" class="name">${entityLink(site, 'agent', agent.agent_id, agent.name)}${agent.name !== null && html` ${endOf(agent.agent_id)}`}</th><td>${awarded(agent)}${agent.retired_at !== null && html`<br><span class="mute">retired ${dayOf(agent.retired_at)}</span>`}</td><td class="n">${orNone(agent.skill, signed)}</td></tr>\n`,
)}</tbody></table>`
}
