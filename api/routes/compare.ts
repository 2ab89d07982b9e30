// Two agents or forecasters side by side, on the questions that both answered.
import { canonical } from '../../pipeline/proof/canonical.ts'
import { rounded } from '../../pipeline/scoring/round.ts'
import { type SideBySide, sideBySide } from '../../schemas/worked-out.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { compareQuery } from '../../schemas/requests.ts'
import type { ApiContext } from '../http/context.ts'
import type { Release } from '../published/release-payloads.ts'
import { route } from '../http/route.ts'
import * as examples from '../openapi/examples.ts'
import { type ReleasedEntity, releasedEntity } from './pasted-path.ts'
import { noReleaseYet } from './releases.ts'
import type { Asker } from '../turns.ts'
import { NANO } from '../../schemas/values.ts'

/** Of the questions in the answer. */
const MOST_DIFFERENT = 10

/** Returns what is published of two entities side by side. @throws ServiceError `notFound`. */
async function compared(
  context: ApiContext,
  release: Release,
  ids: { a: string; b: string },
  asker: Asker,
): Promise<SideBySide> {
  const { manifest } = release
  if (!manifest) throw noReleaseYet(context)
  const two = [
    await found(context, release, ids.a, asker),
    await found(context, release, ids.b, asker),
  ] as const
  const { shared, brier, ...numbers } = await context.comparisons.comparisonOf(manifest, two, asker)
  const mostDifferent = shared.slice(0, MOST_DIFFERENT)
  const titles = await context.questions.titlesOf(mostDifferent.map(({ questionId }) => questionId))
  const { as_of, environment, methodology_version } = manifest
  const entity = ({ entityType, entityId, name }: ReleasedEntity, side: 0 | 1) => ({
    entity_type: entityType,
    id: entityId,
    // The answer names no person, as nothing does that others may keep.
    name: entityType === 'agent' ? name : null,
    brier: brier && rounded(brier[side]),
  })
  const { questions, clusters, difference, interval } = numbers
  return {
    release: manifest.release,
    as_of,
    environment,
    methodology_version,
    a: entity(two[0], 0),
    b: entity(two[1], 1),
    questions,
    clusters,
    brier_difference: difference === null ? null : rounded(difference),
    interval: interval && {
      lower: rounded(interval.lower),
      upper: rounded(interval.upper),
      level: rounded(interval.level),
    },
    most_different: mostDifferent.map(({ questionId, outcome, coverage, errors }, index) => ({
      question_id: questionId,
      title: titles[index]!,
      outcome: outcome === 1 ? 'yes' : 'no',
      coverage: rounded(coverage / NANO),
      a_brier: rounded(errors[0] / coverage),
      b_brier: rounded(errors[1] / coverage),
    })),
  }
}

async function found(
  context: ApiContext,
  release: Release,
  entityId: string,
  asker: Asker,
): Promise<ReleasedEntity> {
  const entity = await releasedEntity(context, release, entityId, asker)
  if (entity) return entity
  throw new ServiceError('notFound', noEntity(entityId))
}

const noEntity = (id: string) => `the current release has no agent and no forecaster ${id}`

export const compareTwo = route({
  path: '/compare',
  operationId: 'compareTwo',
  tag: 'Records',
  summary: 'Two agents or forecasters side by side',
  description:
    'On the settled questions on which both had a forecast at the same time, over that time alone: the mean squared error (Brier score) of ' +
    'each and their difference, each question weighted by the share of its scheduled life that both stood. The interval of the ' +
    'difference groups questions by event and may be looked at after every release, as that of a skill; where it has 0 inside, the ' +
    'two cannot be told apart. A comparison that this node does not have in memory counts as several calls.',
  follows: true,
  needsStore: true,
  needsQuestions: true,
  query: compareQuery,
  examples: { query: { a: examples.AGENT_ID, b: examples.USER_ID } },
  success: {
    description: 'As in the current release',
    body: sideBySide,
    cache: 'public, max-age=60',
    example: examples.comparison,
  },
  problems: {
    404: { type: 'not-found', detail: noEntity(examples.AGENT_ID) },
    422: examples.invalid('query', 'b', 'must be another one than a'),
  },
  handle: async ({ query, asker }, context, release) => ({
    body: canonical(await compared(context, release, query, asker)),
  }),
})
