import { expect, it } from 'vitest'
import * as examples from '../../../api/openapi/examples.ts'
import { type Owner, ownerPage } from '../../../api/pages/owner.ts'
import { textOf } from '../../support/http/page-text.ts'

const site = { environment: 'production', publicUrl: undefined } as const
const [agent] = (examples.owner as Owner).agents
const owner: Owner = {
  ...(examples.owner as Owner),
  owner_id: 'rook & "co"',
  agents: [
    { ...agent!, name: '<b>crow</b>' },
    {
      agent_id: '01a20012-a424-73ad-bf0a-2c0410e39446',
      name: 'jay',
      certification: 'none',
      skill: null,
      retired_at: '2026-02-01T00:00:00.000Z',
    },
  ],
  scored_agents: 2,
}

it('shows all agents of an owner, retired ones too', () => {
  const page = ownerPage(site, owner)
  const text = textOf(page)
  expect(text).toContain('Agents of rook & "co"')
  expect(text).toContain('2 agents, 1 certified.')
  expect(text).toContain('<b>crow</b> …')
  expect(text).toContain('jay …e39446 – no title retired 2026-02-01 –')
  expect(page.text).toContain('href="/owners/rook%20%26%20%22co%22"')
})
