// The page on which anyone checks what they were shown: one field for everything.
import { checkForm } from '../../schemas/requests.ts'
import { profilePath } from '../../schemas/entity-paths.ts'
import type { ApiContext } from '../http/context.ts'
import type { Release } from '../published/release-payloads.ts'
import { SEARCH_PATH, withQuery, linkTo } from '../pages/site.ts'
import { pastedIn, namedPath, releasedEntity } from './pasted-path.ts'
import { verifyPage } from '../pages/verify.ts'
import type { Asker } from '../turns.ts'
import { pageRoute } from './page-route.ts'

export const checkPage = pageRoute({
  path: '/view/verify',
  operationId: 'showCheck',
  summary: 'The check of anything that this service published',
  query: checkForm,
  render: async ({ query: { q }, asker }, context, release) => {
    const { site } = context
    if (q === undefined) return verifyPage(site)
    const found = await destinationOf(context, release, q, asker)
    return 'to' in found
      ? found
      : { status: found.status, page: verifyPage(site, { q, notice: found.notice }) }
  },
})

type Destination = { to: string } | { status: number; notice: string }

const RECORD =
  'That is the text of a record. Your browser checks it in this page, which needs JavaScript and HTTPS; the commands below do the same.'

async function destinationOf(
  context: ApiContext,
  release: Release,
  q: string,
  asker: Asker,
): Promise<Destination> {
  const { site, registry } = context
  const pasted = pastedIn(site, q)
  switch (pasted.kind) {
    case 'entity':
    case 'question':
    case 'owner': {
      const path = linkTo({ ...site, environment: pasted.environment }, namedPath(pasted))
      return { to: pasted.kind === 'entity' ? `${path}#check` : path }
    }
    case 'name':
      return { to: linkTo(site, withQuery(SEARCH_PATH, { q: q.trim() })) }
    case 'record':
      return { status: 200, notice: RECORD }
    case 'unknown':
      return { status: 404, notice: pasted.why }
    case 'id': {
      const { id } = pasted
      const released = await releasedEntity(context, release, id, asker)
      if (released) return { to: `${linkTo(site, profilePath(released.entityType, id))}#check` }
      if (await registry.findAgent(id)) return { to: linkTo(site, profilePath('agent', id)) }
      return { status: 404, notice: `No agent and no forecaster here has the id ${id}.` }
    }
  }
}
