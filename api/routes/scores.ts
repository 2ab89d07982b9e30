// The scores of an agent or a forecaster on each question.
import { z } from 'zod'
import { canonical } from '../../pipeline/proof/canonical.ts'
import type { ScoreRow } from '../../pipeline/release/score-rows.ts'
import { RESPONSES } from '../../schemas/json-schemas.ts'
import type { QuestionScore } from '../../schemas/answers.ts'
import { scoresQuery } from '../../schemas/requests.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import { notPublished } from '../http/not-published.ts'
import * as examples from '../openapi/examples.ts'
import { componentName } from '../openapi/schemas.ts'
import { callsOfPage } from '../limits/page-calls.ts'
import { type Route, route } from '../http/route.ts'
import { ENTITIES } from './entities.ts'

export const scores: Route[] = ENTITY_TYPES.map(scoresOf)

function scoresOf(entityType: EntityType): Route {
  const { path, words, idName, example, missing } = ENTITIES[entityType]
  return route({
    path: `${path}/scores`,
    operationId: `list${componentName(`${entityType}-scores`)}`,
    tag: 'Records',
    summary: `The scores of ${words} on each question`,
    description:
      'Every question with an outcome on which it took part, the last settled first, with the columns that the Parquet ' +
      'files of the release have: scores are not rounded. One with `settled` false has not closed yet, and counts in no other ' +
      'number until then. A cursor names its release, so that pages fit together whatever is released meanwhile.',
    follows: true,
    needsStore: true,
    namesRelease: true,
    needsQuestions: true,
    params: z.strictObject({ [idName]: uuid }),
    query: scoresQuery,
    countsAs: callsOfPage,
    examples: { params: { [idName]: example }, query: { limit: 10 } },
    success: {
      description: 'A page',
      body: RESPONSES[`${entityType}-scores`],
      cache: 'public, max-age=60',
      example: examples.SCORES[entityType],
      links: {
        question: {
          operationId: 'getQuestion',
          parameters: { question_id: '$response.body#/scores/0/question_id' },
        },
        rankings: {
          operationId: `get${componentName(`${entityType}-rankings`)}`,
          parameters: { [idName]: `$response.body#/${idName}` },
        },
      },
    },
    problems: { 404: missing, 422: examples.invalid('query', 'limit', 'must be at most 1000') },
    handle: async ({ params, query, asker }, context, release) => {
      const entityId = params[idName]!
      if (!release.manifest) throw await notPublished(context, release, entityType, entityId)
      const page = await context.scores.page(release.manifest, { entityType, entityId, ...query }, asker)
      const { manifest, rows, nextCursor } = page
      if (rows.length === 0 && !(await release.find(entityType, entityId, 'rankings'))) {
        throw await notPublished(context, release, entityType, entityId)
      }
      const titles = await context.questions.titlesOf(rows.map(({ question_id }) => question_id))
      const { as_of, environment, methodology_version } = manifest
      const body = canonical({
        [idName]: entityId,
        release: manifest.release,
        as_of,
        environment,
        methodology_version,
        scores: rows.map((row, index) => scoreOf(row, titles[index]!)),
        next_cursor: nextCursor,
      })
      return { body }
    },
  })
}

function scoreOf(row: ScoreRow, title: string | null): QuestionScore {
  const { resolved_at, settled_at } = row
  return {
    ...row,
    title,
    resolved_at: resolved_at.toISOString(),
    settled_at: settled_at === null ? null : settled_at.toISOString(),
  }
}
