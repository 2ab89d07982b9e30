// The pages of all questions of an entity.
import { ServiceError } from '../../schemas/errors.ts'
import { entityQuestionsQuery } from '../../schemas/requests.ts'
import { type EntityType, ENTITY_TYPES } from '../../schemas/tables.ts'
import { notPublished } from '../http/not-published.ts'
import { QUESTIONS_PER_PAGE, entityQuestionsPage, inOrder } from '../pages/profile/questions.ts'
import { type Payloads, questionsOf as countOf } from '../pages/profile/subject.ts'
import type { Route } from '../http/route.ts'
import { pageRoute } from './page-route.ts'
import { NAMES, addressOf, callsFor, publishedOf, scoresOf, stateOf } from './published-entity.ts'

export const entityQuestionsPages: Route[] = ENTITY_TYPES.map(questionsOf)

function questionsOf(entityType: EntityType): Route {
  const { path, params, idIn } = addressOf(entityType)
  return pageRoute({
    path: `${path}/questions`,
    operationId: `show${NAMES[entityType]}Questions`,
    summary: `All questions of an ${entityType}`,
    params,
    query: entityQuestionsQuery,
    namesRelease: true,
    needsQuestions: true,
    render: async ({ params: given, query, asker, site }, context, release) => {
      const { page: pageNumber = 1, sort: order = 'newest' } = query
      const id = idIn(given)
      const verification = await release.find(entityType, id, 'verification', asker)
      if (!verification) throw await notPublished(context, release, entityType, id)
      const total = countOf(verification.payload as Payloads['verification'])
      const pages = Math.max(1, Math.ceil(total / QUESTIONS_PER_PAGE))
      if (pageNumber > pages) {
        throw new ServiceError('notFound', `there is no page ${pageNumber}: the last one is ${pages}`)
      }
      // Whoever asks for the worst needs all of them, whoever asks for the newest only these.
      const rows = order === 'newest' ? pageNumber * QUESTIONS_PER_PAGE : total
      const render = async () => {
        const { manifest, payloads } = await publishedOf(context, release, entityType, id)
        const found = inOrder(await scoresOf(context, entityType, id, manifest, rows), order)
        const end = pageNumber * QUESTIONS_PER_PAGE
        const scores = found.slice(end - QUESTIONS_PER_PAGE, end)
        return entityQuestionsPage({ site, published: payloads, scores, pageNumber, order })
      }
      return { state: stateOf(context), count: () => asker.countMore(callsFor(rows)), render }
    },
  })
}
