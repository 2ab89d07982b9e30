// Pages about questions: their list, and each of them with what was forecast once it is settled.
import { z } from 'zod'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { QuestionSummary } from '../../schemas/payloads.ts'
import { questionsForm, wordsOf } from '../../schemas/requests.ts'
import { uuid } from '../../schemas/values.ts'
import type { ApiContext } from '../http/context.ts'
import type { Route } from '../http/route.ts'
import { callsOfLookups } from '../limits/page-calls.ts'
import { type Forecasted, questionPage } from '../pages/question.ts'
import { questionsPage } from '../pages/questions.ts'
import { hasSummaries } from '../published/question-summaries.ts'
import { shownAt } from '../questions/question.ts'
import { pageRoute } from './page-route.ts'
import { releasedNames } from './pasted-path.ts'

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
  render: ({ query: { cursor, ...filters } }, { site, releases, questions: book, now }) => {
    const q = filters.q === undefined ? undefined : wordsOf(filters.q)
    const at = now()
    const list = book.page({ ...filters, q, limit: QUESTIONS_PER_PAGE, cursor, now: at })
    const isFirst = cursor === undefined && Object.values(filters).every((value) => value === undefined)
    const next = isFirst
      ? book.page({ status: 'open', limit: CLOSING_NEXT, cursor: undefined, now: at }).questions
      : []
    const counts = book.counts(at, MOST_CATEGORIES)
    return questionsPage({ site, filters, cursor, list, next, counts, release: releases.current })
  },
})

const question = pageRoute({
  path: '/view/questions/{question_id}',
  operationId: 'showQuestion',
  summary: 'One question',
  needsQuestions: true,
  params: z.strictObject({ question_id: uuid }),
  render: async ({ params, countMore }, context) => {
    const { site, questions: book, currentForecasts, rationalesOn, now } = context
    const found = await book.find(params.question_id)
    const shown = shownAt(found, now())
    const agents = shown.status === 'open' ? currentForecasts.agentsOn(found.question_id) : undefined
    const [texts] = await book.textsOf([found], countMore)
    const changes = await book.changesOf(found, countMore)
    const said = shown.outcome === null ? undefined : await rationalesOn(found.question_id)
    const forecasted = await forecastedOn(context, shown, countMore)
    const rationales = said?.rationales ?? []
    return questionPage(site, { ...shown, ...texts!, changes, agents, rationales, forecasted })
  },
})

export const questionPages: Route[] = [questions, question]

type Shown = ReturnType<typeof shownAt>

/** Returns what the release says of a question with an outcome; undefined for every other one. */
async function forecastedOn(
  context: ApiContext,
  { question_id, outcome, opened_at, closes_at, resolved_at }: Shown,
  countMore: (calls: number) => Promise<void>,
): Promise<Forecasted | undefined> {
  const manifest = context.releases.current
  if (!manifest || (outcome !== 'yes' && outcome !== 'no')) return undefined
  const [from, closed, known] = [opened_at, closes_at, resolved_at!].map((at) => new Date(at)) as [
    Date,
    Date,
    Date,
  ]
  const isSettled = Math.max(closed.getTime(), known.getTime()) <= Date.parse(manifest.as_of)
  const summary = isSettled ? await context.summaries.find(manifest, question_id) : undefined
  if (summary && summary.outcome === outcome) {
    const names = await namesIn(context, summary, countMore)
    const to = closed < known ? closed : known
    return { settled: { summary, names, voiceRule: manifest.voice_rule, from, to }, manifest }
  }
  return { missing: summary ? 'changed' : isSettled ? missingIn(manifest) : 'not yet', manifest }
}

function missingIn(manifest: ReleaseManifest): 'nobody' | 'unknown' {
  return hasSummaries(manifest) ? 'nobody' : 'unknown'
}

/** Returns the names of those whom a summary names, by id. */
async function namesIn(
  context: ApiContext,
  { closest, farthest }: QuestionSummary,
  countMore: (calls: number) => Promise<void>,
): Promise<ReadonlyMap<string, string>> {
  const ends = [...closest, ...farthest]
  await countMore(callsOfLookups(ends.length))
  return releasedNames(
    context,
    ends.map((end) =>
      'agent_id' in end
        ? { entityType: 'agent', entityId: end.agent_id }
        : { entityType: 'forecaster', entityId: end.user_id },
    ),
  )
}
