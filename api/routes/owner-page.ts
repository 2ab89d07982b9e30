// The page of all agents of an owner.
import { z } from 'zod'
import { name } from '../../schemas/names.ts'
import { releaseQuery } from '../../schemas/requests.ts'
import { type Owner, ownerPage } from '../pages/owner.ts'
import { withoutHidden } from '../published/hidden.ts'
import { noAgentsOf } from './owners.ts'
import { pageRoute } from './page-route.ts'

export const ownerPageRoute = pageRoute({
  path: '/view/owners/{owner_id}',
  operationId: 'showOwner',
  summary: 'All agents of an owner',
  params: z.strictObject({ owner_id: name }),
  query: releaseQuery,
  namesRelease: true,
  render: async ({ params: { owner_id: id }, site }, _context, release) => {
    const found = await release.findOwner(id)
    if (!found) throw noAgentsOf(release, id)
    const owned = found.payload as Owner
    const render = async () => {
      const agents = await withoutHidden(release.earlierThan, owned.agents)
      return ownerPage(site, { ...owned, agents })
    }
    return { render }
  },
})
