// All questions of an entity as a whole table, for spreadsheets and for programs that read CSV.
import { z } from 'zod'
import { questionTablePath } from '../../schemas/entity-paths.ts'
import { questionScore } from '../../schemas/answers.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { releaseQuery } from '../../schemas/requests.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import type { ApiContext } from '../http/context.ts'
import { columnsOf, csvReply, csvSuccess } from '../http/csv.ts'
import { notPublished } from '../http/not-published.ts'
import { type Route, route } from '../http/route.ts'
import { callsOfScores } from '../limits/page-calls.ts'
import { type Payloads, questionsOf } from '../pages/profile/subject.ts'
import { ENTITIES } from './entities.ts'

const QUESTION_SCORE_COLUMNS = columnsOf(questionScore)

export const questionTables: Route[] = ENTITY_TYPES.map(questionTable)

/** It belongs to the pages, as the tables of the leaderboards do. */
function questionTable(entityType: EntityType): Route {
  const { idName } = ENTITIES[entityType]
  return route({
    path: questionTablePath(entityType, `{${idName}}`),
    operationId: entityType === 'agent' ? 'getAgentQuestionTable' : 'getForecasterQuestionTable',
    isDocumented: false,
    limit: 'page',
    tag: 'Service',
    summary: `All questions of an ${entityType} as CSV`,
    description: 'A line for each question of the release, the newest first, with its scores as columns.',
    follows: true,
    needsStore: true,
    needsQuestions: true,
    namesRelease: true,
    params: z.strictObject({ [idName]: uuid }),
    query: releaseQuery,
    success: csvSuccess(['question_id', 'title']),
    handle: async (request, context, release) => {
      const { params, asker } = request
      const id = params[idName]!
      const found = await release.find(entityType, id, 'verification', asker)
      if (!found) throw await notPublished(context, release, entityType, id)
      await asker.countMore(callsOfScores(questionsOf(found.payload as Payloads['verification'])) - 1)
      return csvReply(request, {
        filename: `questions-of-${id}`,
        source: [
          release.manifest!.release,
          context.questions.versions.questions.version,
          context.questions.version,
        ],
        columns: QUESTION_SCORE_COLUMNS,
        groups: () => rowsOf(context, release.manifest!, entityType, id),
      })
    },
  })
}

async function* rowsOf(
  { scores, questions }: ApiContext,
  manifest: ReleaseManifest,
  entityType: EntityType,
  id: string,
): AsyncIterable<object[]> {
  for await (const rows of scores.newest(manifest, entityType, id)) {
    const rowQuestions = await questions.findAll(rows.map(({ question_id }) => question_id))
    yield rows.map((row, index) => ({
      ...row,
      title: rowQuestions[index]?.title ?? null,
      resolved_at: row.resolved_at.toISOString(),
      settled_at: row.settled_at?.toISOString() ?? null,
    }))
  }
}
