// Pages about questions: their list, and each of them with what was forecast once it is settled.
import { z } from 'zod'
import { scoredBytes } from '../../pipeline/release/answers.ts'
import type { ListedQuestion } from '../../schemas/answers.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { QuestionSummary } from '../../schemas/payloads.ts'
import { questionsForm, releaseQuery, wordsOf } from '../../schemas/requests.ts'
import { uuid } from '../../schemas/values.ts'
import type { ApiContext } from '../http/context.ts'
import type { Published } from '../published/published.ts'
import type { Release } from '../published/release-payloads.ts'
import type { Route } from '../http/route.ts'
import { type Forecasted, questionPage } from '../pages/question.ts'
import { questionsPage } from '../pages/questions.ts'
import { hasBoard } from '../pages/topics.ts'
import { pageRoute } from './page-route.ts'
import { releasedNames } from './pasted-path.ts'
import type { Asker } from '../turns.ts'

/** Questions on a page of their list. */
const QUESTIONS_PER_PAGE = 50
/** The list begins with this many that close next. */
const CLOSING_NEXT = 5
/** Categories to choose from. */
const MOST_CATEGORIES = 12

/** A question's status changes with the clock, so its pages are rendered anew for each call. */
const questions = pageRoute({
  path: '/view/questions',
  operationId: 'showQuestions',
  summary: 'Questions in the order in which they close',
  needsQuestions: true,
  query: questionsForm,
  render: async ({ query: { cursor, ...filters } }, context, { manifest: release }) => {
    const { site, questions: book, categories, now } = context
    const q = filters.q === undefined ? undefined : wordsOf(filters.q)
    const at = now()
    const list = book.page({ ...filters, q, limit: QUESTIONS_PER_PAGE, cursor, now: at })
    const isFirst = cursor === undefined && Object.values(filters).every((value) => value === undefined)
    const next = isFirst
      ? book.page({ status: 'open', limit: CLOSING_NEXT, cursor: undefined, now: at }).questions
      : []
    const counts = book.counts(at, MOST_CATEGORIES)
    const topics = release ? await categories.all(release) : []
    const withBoard = new Set(topics.filter(hasBoard).map(({ category }) => category))
    return questionsPage({ site, filters, cursor, list, next, counts, withBoard, release })
  },
})

const question = pageRoute({
  path: '/view/questions/{question_id}',
  operationId: 'showQuestion',
  summary: 'One question',
  needsQuestions: true,
  params: z.strictObject({ question_id: uuid }),
  query: releaseQuery,
  namesRelease: true,
  render: async ({ params, asker, site }, context, release) => {
    const { questions: book, currentForecasts, rationalesOn, now } = context
    const found = await book.find(params.question_id)
    const shown = book.shown(found, now())
    const agents = shown.status === 'open' ? currentForecasts.agentsOn(found.question_id) : undefined
    const [texts] = await book.textsOf([found], asker)
    const changes = await book.changesOf(found, asker)
    const answer = shown.outcome === null ? undefined : await rationalesOn(found.question_id)
    const forecast = await forecastOn(context, release, shown)
    const forecasted = forecast && (await shownForecast(context, release, forecast, asker))
    const rationales = answer?.rationales ?? []
    return questionPage(site, { ...shown, ...texts!, changes, agents, rationales, forecasted })
  },
})

export const questionPages: Route[] = [questions, question]

type ShownQuestion = Pick<
  ListedQuestion,
  'question_id' | 'outcome' | 'opened_at' | 'closes_at' | 'resolved_at' | 'known_at'
>

/** Holds what a release says of a question with an outcome, or the reason why it says nothing. */
export type Forecast = { manifest: ReleaseManifest } & (
  | { summary: QuestionSummary; from: Date; to: Date }
  | Pick<Extract<Forecasted, { missing: unknown }>, 'missing'>
)

/** Scores of more bytes are not looked through for a call: it would take as long as many hundred others. */
export const MOST_SCORED_BYTES = 1024 * 1024 * 1024

/** Returns what the release says of a question with an outcome; undefined for every other one. */
export async function forecastOn(
  { summaries }: Published,
  { manifest, earlierThan }: Release,
  { question_id, outcome, opened_at, closes_at, resolved_at, known_at }: ShownQuestion,
): Promise<Forecast | undefined> {
  if (!manifest || (outcome !== 'yes' && outcome !== 'no')) return undefined
  const [settledAt, to] = [
    [closes_at, resolved_at!].toSorted().at(-1)!,
    [closes_at, resolved_at!, ...(known_at === null ? [] : [known_at])].toSorted()[0]!,
  ]
  const isSettled = settledAt <= manifest.as_of
  // An earlier release may have settled it by other times than those of today.
  const mayHave = isSettled || earlierThan !== undefined
  const summary = mayHave ? await summaries.find(manifest, question_id) : undefined
  if (summary && summary.outcome === outcome) {
    return { manifest, summary, from: new Date(opened_at), to: new Date(to) }
  }
  return { manifest, missing: summary ? 'changed' : isSettled ? 'nobody' : 'not yet' }
}

/** Adds what the page shows besides: names, and whether the answers are few enough for a table. */
async function shownForecast(
  context: ApiContext,
  release: Release,
  forecast: Forecast,
  asker: Asker,
): Promise<Forecasted> {
  if ('missing' in forecast) return forecast
  const { manifest, ...settled } = forecast
  const names = await entityNames(context, release, settled.summary, asker)
  const hasAnswers = scoredBytes(manifest) <= MOST_SCORED_BYTES
  return { manifest, settled: { ...settled, names, voiceRule: manifest.voice_rule, hasAnswers } }
}

/** Returns the names of those whom a summary names, by id. */
async function entityNames(
  context: ApiContext,
  release: Release,
  { closest, farthest }: QuestionSummary,
  asker: Asker,
): Promise<ReadonlyMap<string, string>> {
  const ends = [...closest, ...farthest]
  return releasedNames(
    context,
    release,
    ends.map((end) =>
      'agent_id' in end
        ? { entityType: 'agent', entityId: end.agent_id }
        : { entityType: 'forecaster', entityId: end.user_id },
    ),
    asker,
  )
}
