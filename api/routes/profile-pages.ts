// Pages about one entity: its profile, all of its questions, and all agents of an owner.
import { replacedOutcomes } from '../../pipeline/release/compare.ts'
import { z } from 'zod'
import type { Methodology } from '../../pipeline/scoring/methodology.ts'
import { type ErrorPair, type RunningPoint, runningSkill } from '../../pipeline/scoring/running.ts'
import { skillByTopic } from '../../pipeline/scoring/topics.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { PUBLICATIONS } from '../../schemas/metric.ts'
import { name } from '../../schemas/names.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { entityQuestionsQuery, releaseQuery } from '../../schemas/requests.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import type { Intake, Published } from '../http/context.ts'
import type { Release } from '../published/release-payloads.ts'
import { notPublished } from '../http/not-published.ts'
import type { Html } from '../pages/html.ts'
import { callPath, profilePath } from '../../schemas/entity-paths.ts'
import { SEARCH_PATH } from '../pages/layout.ts'
import { withQuery } from '../pages/links.ts'
import { type Owner, ownerPage } from '../pages/owner.ts'
import type { Day } from '../pages/profile/by-date.ts'
import type { Certificate } from '../pages/profile/certificate.ts'
import { QUESTIONS_PER_PAGE, entityQuestionsPage } from '../pages/profile/entity-questions.ts'
import { milestones } from '../pages/profile/figures.ts'
import { inOrder } from '../pages/profile/question-order.ts'
import { profilePage } from '../pages/profile/profile.ts'
import {
  type Payloads,
  type QuestionScore,
  isAgent,
  questionsOf as countOf,
} from '../pages/profile/subject.ts'
import { unreleasedPage } from '../pages/profile/unreleased.ts'
import { linkTo } from '../pages/site.ts'
import { isHidden, withoutHidden } from '../published/hidden.ts'
import type { SnapshotRow } from '../published/history.ts'
import type { FoundCredential } from '../published/credentials.ts'
import { nameOfEntity } from '../published/people.ts'
import type { Route } from '../http/route.ts'
import { ENTITIES } from './entities.ts'
import { noAgentsOf } from './owners.ts'
import { pageRoute } from './page-route.ts'

export function profilePages(methodology: Methodology): Route[] {
  return [
    ...ENTITY_TYPES.flatMap((entityType) => [profile(entityType, methodology), questionsOf(entityType)]),
    owner,
  ]
}

const NAMES: Record<EntityType, string> = { agent: 'Agent', forecaster: 'Forecaster' }

function addressOf(entityType: EntityType) {
  const { idName } = ENTITIES[entityType]
  return {
    path: profilePath(entityType, `{${idName}}`),
    params: z.strictObject({ [idName]: uuid }),
    /** Of the page that anyone may ask for by name. */
    idOrName: z.strictObject({ [idName]: z.union([uuid, name], 'must be an id or a name') }),
    idIn: (params: Record<string, string>) => params[idName]!,
  }
}

function profile(entityType: EntityType, methodology: Methodology): Route {
  const { path, idOrName, idIn } = addressOf(entityType)
  return pageRoute({
    path,
    operationId: `show${NAMES[entityType]}`,
    summary: `What is published of an ${entityType}`,
    params: idOrName,
    query: releaseQuery,
    namesRelease: true,
    needsQuestions: true,
    render: async ({ params: given, asker, site }, context, release) => {
      const id = idIn(given)
      if (!uuid.safeParse(id).success) return { to: linkTo(site, withQuery(SEARCH_PATH, { q: id })) }
      const verification = await release.find(entityType, id, 'verification', asker)
      if (!verification) return unreleased(context, release, entityType, id)
      const calls = callsFor(countOf(verification.payload as Payloads['verification']))
      const count = () =>
        asker.countMore(calls + context.history.callsOfSome(...earlierDays(release, entityType, id)))
      const credential = await credentialOf(context, release, entityType, id)
      // The credentials of a release are issued a moment after it.
      const render = async () => {
        const { manifest, payloads } = await publishedOf(context, release, entityType, id)
        const scores = (await scoresOf(context, entityType, id, manifest)).toReversed()
        return profilePage({
          site,
          published: payloads,
          verification: {
            text: new TextDecoder().decode(verification.bytes),
            signature: verification.signature,
            proofPath: context.publicLog.isThere
              ? `${callPath(entityType, id)}/verification/proof?release=${manifest.release}`
              : undefined,
          },
          scores,
          certificate: credential && certificateIn(credential.document),
          running: runningOf(methodology, payloads, scores),
          topics: skillByTopic(methodology, scores),
          days: [...(await daysBefore(context, release, entityType, id)), ...dayOf(payloads)],
          replaced: replacedOutcomes(manifest.corrections),
          rules: methodology.parameters,
          boardSize:
            payloads.rankings.rank === null
              ? 0
              : await context.leaderboard.boardSize(manifest, entityType, payloads.rankings),
        })
      }
      return { state: `${String(credential?.document['id'])} ${stateOf(context)}`, count, render }
    },
  })
}

/** Nothing for an earlier release, because credentials are of the current one. */
async function credentialOf(
  { credentials }: Published,
  { manifest, earlierThan }: Release,
  entityType: EntityType,
  id: string,
): Promise<FoundCredential | undefined> {
  if (!manifest || earlierThan !== undefined) return undefined
  return credentials.find(manifest.release, entityType, id)
}

function certificateIn(document: FoundCredential['document']): Certificate {
  const { issuer, ...members } = document as unknown as Certificate & { issuer: { name: string } }
  const { validFrom, validUntil } = members
  return { name: members.name, issuerName: issuer.name, validFrom, validUntil }
}

function runningOf(methodology: Methodology, payloads: Payloads, scores: readonly Score[]): RunningPoint[] {
  const attempt = isAgent(payloads) ? payloads.verification.attempt : null
  const wanted = milestones(payloads.metrics.contested_questions, methodology.parameters)
  return runningSkill(methodology, scores, attempt, wanted)
}

/** Questions that a page may show for each further call that it counts as. */
const QUESTIONS_PER_CALL = 300

/** The most further calls that a page counts as, so that a limit of a minute admits any page. */
const MOST_CALLS = 99

/** Returns as how many further calls a page counts that has to be rendered. */
function callsFor(questions: number): number {
  return Math.min(Math.ceil(questions / QUESTIONS_PER_CALL), MOST_CALLS)
}

/** Returns what changes a page that shows titles of questions and a proof. */
function stateOf({ questions, publicLog }: Published & Pick<Intake, 'questions'>): string {
  return `${questions.version} ${publicLog.isThere}`
}

/** Returns all payloads of an entity. @throws ServiceError `notFound` if it has none. */
async function publishedOf(
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

async function unreleased(
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

type Score = QuestionScore & ErrorPair

/** The most days that a profile shows. */
const MOST_DAYS = 40

/** The days of a history that a profile shows besides that of the release. */
function earlierDays({ manifest }: Release, entityType: EntityType, id: string) {
  return [entityType, id, dayBefore(manifest!.as_of), MOST_DAYS - 1] as const
}

/** Returns days before the release on which a skill of the entity was published. */
async function daysBefore(
  context: Published,
  release: Release,
  entityType: EntityType,
  id: string,
): Promise<Day[]> {
  const some = context.history.some(...earlierDays(release, entityType, id))
  const rows: SnapshotRow[] = await some.catch((error: unknown) => {
    // The operator is told of a damaged snapshot by its own call, and the rest of the page is right.
    if (error instanceof ServiceError && error.kind === 'corrupt') return []
    throw error
  })
  return rows.flatMap(({ date, skill, skill_interval: interval, rank, rank_interval: places }) =>
    skill === null ? [] : [{ date, skill, interval, rank, places }],
  )
}

/** Returns the day of the release itself; the snapshot of that day may be written a moment later. */
function dayOf({ metrics, rankings }: Payloads): Day[] {
  const { skill, skill_interval: interval } = metrics
  if (skill === null) return []
  const { rank, rank_interval: places } = rankings
  return [{ date: metrics.as_of.slice(0, 10), skill, interval, rank, places }]
}

function dayBefore(instant: string): string {
  return new Date(Date.parse(instant) - 24 * 3_600_000).toISOString().slice(0, 10)
}

/** Returns the scores of an entity, newest first: all of them, or the `most` newest ones. */
async function scoresOf(
  { scores, questions }: Published & Pick<Intake, 'questions'>,
  entityType: EntityType,
  entityId: string,
  manifest: ReleaseManifest,
  most = Infinity,
): Promise<Score[]> {
  const all: Score[] = []
  for await (const rows of scores.newest(manifest, entityType, entityId, most)) {
    const asked = await questions.findAll(rows.map(({ question_id }) => question_id))
    for (const [index, row] of rows.entries()) {
      const { title = null, category = null } = asked[index] ?? {}
      all.push({ ...row, title, category })
    }
  }
  return all
}

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

const owner = pageRoute({
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
