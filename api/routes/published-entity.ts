// The parts that the pages about one entity share: its address, all that a release has of it, and its cost.
import { z } from 'zod'
import type { ErrorPair } from '../../pipeline/scoring/running.ts'
import { PUBLICATIONS } from '../../schemas/metric.ts'
import { name } from '../../schemas/names.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import type { Intake } from '../http/intake.ts'
import type { Published } from '../published/published.ts'
import type { Release } from '../published/release-payloads.ts'
import { notPublished } from '../http/not-published.ts'
import type { Html } from '../pages/html.ts'
import { profilePath } from '../../schemas/entity-paths.ts'
import type { Payloads, QuestionScore } from '../pages/profile/subject.ts'
import { unreleasedPage } from '../pages/profile/profile.ts'
import { isHidden } from '../published/hidden.ts'
import { nameOfEntity } from '../published/people.ts'
import { ENTITIES } from './entities.ts'

export const NAMES: Record<EntityType, string> = { agent: 'Agent', forecaster: 'Forecaster' }

export function addressOf(entityType: EntityType) {
  const { idName } = ENTITIES[entityType]
  return {
    path: profilePath(entityType, `{${idName}}`),
    params: z.strictObject({ [idName]: uuid }),
    /** Of the page that anyone may ask for by name. */
    idOrName: z.strictObject({ [idName]: z.union([uuid, name], 'must be an id or a name') }),
    idIn: (params: Record<string, string>) => params[idName]!,
  }
}

/** Questions that a page may show for each further call that it counts as. */
const QUESTIONS_PER_CALL = 300

/** The most further calls that a page counts as, so that a limit of a minute admits any page. */
const MOST_CALLS = 99

/** Returns as how many further calls a page counts that has to be rendered. */
export function callsFor(questions: number): number {
  return Math.min(Math.ceil(questions / QUESTIONS_PER_CALL), MOST_CALLS)
}

/** Returns what changes a page that shows titles of questions and a proof. */
export function stateOf({ questions, publicLog }: Published & Pick<Intake, 'questions'>): string {
  return `${questions.version} ${publicLog.isThere}`
}

/** Returns all payloads of an entity. @throws ServiceError `notFound` if it has none. */
export async function publishedOf(
  context: Published & Pick<Intake, 'registry'>,
  release: Release,
  entityType: EntityType,
  id: string,
): Promise<{ manifest: ReleaseManifest; payloads: Payloads }> {
  const kinds = [...PUBLICATIONS, 'profile'] as const
  const found = await Promise.all(kinds.map((kind) => release.find(entityType, id, kind)))
  if (found.includes(undefined)) throw await notPublished(context, release, entityType, id)
  const payloads = kinds.map((kind, index) => [kind, found[index]!.payload])
  const { profile: signed, ...rest } = Object.fromEntries(payloads) as Payloads
  const hidden = await isHidden(release.earlierThan, entityType, id)
  const named = { ...signed, name: hidden ? null : nameOfEntity(context.people, entityType, id, signed) }
  return { manifest: release.manifest!, payloads: { ...rest, profile: named } as Payloads }
}

export async function unreleased(
  context: Published & Pick<Intake, 'registry'>,
  release: Release,
  entityType: EntityType,
  id: string,
): Promise<Html> {
  const isAsked = entityType === 'agent' && release.earlierThan === undefined
  const agent = isAsked && (await context.registry.findAgent(id))
  if (!agent) throw await notPublished(context, release, entityType, id)
  return unreleasedPage(context.site, agent, context.promisedReleaseAt())
}

export type Score = QuestionScore & ErrorPair

/** Returns the scores of an entity, newest first: all of them, or the `most` newest ones. */
export async function scoresOf(
  { scores, questions }: Published & Pick<Intake, 'questions'>,
  entityType: EntityType,
  entityId: string,
  manifest: ReleaseManifest,
  most = Infinity,
): Promise<Score[]> {
  const all: Score[] = []
  for await (const rows of scores.newest(manifest, entityType, entityId, most)) {
    const rowQuestions = await questions.findAll(rows.map(({ question_id }) => question_id))
    for (const [index, row] of rows.entries()) {
      const { title = null, category = null } = rowQuestions[index] ?? {}
      all.push({ ...row, title, category })
    }
  }
  return all
}
