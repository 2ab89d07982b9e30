// The tables of the page of a settled question as CSV: what everyone said last, how many said what, and how
// the average moved.
import { z } from 'zod'
import { type EntityAnswer, ANSWER_NUMBERS, scoredBytes } from '../../pipeline/release/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { releaseQuery } from '../../schemas/requests.ts'
import { uuid } from '../../schemas/values.ts'
import type { ApiContext } from '../http/context.ts'
import type { Release } from '../published/release-payloads.ts'
import { type CsvColumn, csvReply, csvSuccess } from '../http/csv.ts'
import { type Route, route } from '../http/route.ts'
import type { Asker } from '../turns.ts'
import { callsOfBytes } from '../limits/page-calls.ts'
import { type QuestionTable, questionTable } from '../pages/site.ts'
import { missing } from '../pages/question.ts'
import { shownAt } from '../questions/question.ts'
import { type Forecast, MOST_SCORED_BYTES, forecastOn } from './question-pages.ts'

type Settled = Extract<Forecast, { summary: unknown }>

interface Table {
  table: QuestionTable
  operationId: string
  summary: string
  description: string
  rows: (
    settled: Settled,
    context: ApiContext,
    asker: Asker,
  ) => { groups: AsyncIterable<object[]>; calls: number }
  columns: readonly string[]
}

const TABLES: readonly Table[] = [
  {
    table: 'answers',
    operationId: 'getAnswerTable',
    summary: 'What everyone said last on a settled question as CSV',
    description:
      'A line for each agent and person of the release, by kind and id, with the scores as columns.',
    columns: ['entity_type', 'entity_id', ...ANSWER_NUMBERS] satisfies (keyof EntityAnswer)[],
    rows: ({ manifest, summary }, { answersOn }, asker) => {
      const bytes = scoredBytes(manifest)
      if (bytes > MOST_SCORED_BYTES) throw tooLarge(manifest, bytes)
      return { groups: answersOn(manifest, summary.question_id, asker), calls: 1 + callsOfBytes(bytes) }
    },
  },
  {
    table: 'last-forecasts',
    operationId: 'getLastForecastTable',
    summary: 'How many said what last on a settled question as CSV',
    description: 'A line for each step of the probability, with how many of those that count said it.',
    columns: ['from', 'to', 'forecasts'],
    rows: ({ summary: { crowd } }) => {
      const counts = crowd?.counts ?? []
      const bins = counts.map((forecasts, bin) => {
        return { from: bin / counts.length, to: (bin + 1) / counts.length, forecasts }
      })
      return { groups: inOneGroup(bins), calls: 1 }
    },
  },
  {
    table: 'course',
    operationId: 'getCourseTable',
    summary: 'How the average moved on a settled question as CSV',
    description: 'A line for each of the instants, equally far apart from the opening to the close.',
    columns: ['at', 'average'],
    rows: ({ summary: { course }, from, to }) => {
      const steps = course ?? []
      const width = (to.getTime() - from.getTime()) / Math.max(1, steps.length - 1)
      const rows = steps.map((average, step) => {
        return { at: new Date(from.getTime() + Math.round(step * width)).toISOString(), average }
      })
      return { groups: inOneGroup(rows), calls: 1 }
    },
  },
]

export const answerTables: Route[] = TABLES.map(answerTable)

/** It belongs to the pages, as the tables of the leaderboards do. */
function answerTable({ table, operationId, summary, description, columns, rows }: Table): Route {
  const named = columns.map((name): CsvColumn<object> => {
    return { name, valueOf: (row) => (row as Record<string, never>)[name] }
  })
  return route({
    path: questionTable('{question_id}', table),
    operationId: operationId,
    isDocumented: false,
    limit: 'page',
    tag: 'Service',
    summary,
    description,
    follows: true,
    needsStore: true,
    needsQuestions: true,
    namesRelease: true,
    params: z.strictObject({ question_id: uuid }),
    query: releaseQuery,
    success: csvSuccess(columns),
    handle: async (request, context, release) => {
      const { params, asker } = request
      const { question_id: id } = params
      const settled = await settledQuestion(context, release, id)
      const { groups, calls } = rows(settled, context, asker)
      await asker.countMore(calls - 1)
      const filename = `${table}-${id}`
      const source = [
        settled.manifest.release,
        context.questions.versions.questions.version,
        context.questions.version,
      ]
      return csvReply(request, { filename, source, columns: named, groups: () => groups })
    },
  })
}

/** @throws ServiceError `notFound` for a question of which the release tells nothing, with the reason. */
async function settledQuestion(context: ApiContext, release: Release, id: string): Promise<Settled> {
  const question = shownAt(await context.questions.find(id), context.now())
  const forecast = await forecastOn(context, release, question)
  if (forecast && 'summary' in forecast) return forecast
  const why = forecast
    ? missing(forecast)
    : question.outcome === 'annulled'
      ? 'It was annulled, and is not scored.'
      : 'It has no outcome, or there is no release: nothing is told of a question before it is settled.'
  throw new ServiceError('notFound', `there is no table of the question ${id}. ${why}`)
}

function tooLarge({ release }: ReleaseManifest, bytes: number): ServiceError {
  const size = `${Math.round(bytes / 1024 / 1024).toLocaleString('en')} MiB`
  return new ServiceError(
    'notFound',
    `release ${release} has ${size} of scores, too many to look through for one question here: ask the view \`scores\` of /data/views.sql for the rows with this question_id`,
  )
}

async function* inOneGroup(rows: object[]): AsyncGenerator<object[]> {
  yield await Promise.resolve(rows)
}
