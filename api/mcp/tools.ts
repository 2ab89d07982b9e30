// The tools for a language model. Each is one call of the HTTP API, with its own schema for what is asked.
import { z } from 'zod'
import {
  currentForecastsQuery,
  eventSubmission,
  forecastSubmission,
  forecastSubmissions,
  leaderboardParams,
  leaderboardQuery,
  onEvent,
  questionsQuery,
  registration,
  scoresQuery,
} from '../../schemas/requests.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { uuid } from '../../schemas/values.ts'
import type { ApiCall } from './api-call.ts'

/** Who can use a tool: everyone, whoever speaks for an agent, its key's holder, or whoever has no key yet. */
type Needs = 'nothing' | 'agent' | 'key' | 'no key'

/** An answer of the service. Members that this version does not know are passed on. */
type ToolAnswer = Record<string, unknown>

export interface Tool {
  name: string
  title: string
  description: string
  needs: Needs
  /** Whether it changes anything. */
  submits?: true
  /** The arguments that a model gives. */
  input: z.ZodObject
  /** The call that it is; `agentId` is of the agent that takes part, where there is one. */
  ask: (input: Record<string, unknown>, agentId: string | undefined) => ApiCall
  /** The answer in a sentence. The answer itself is the structured result. */
  told: (answer: ToolAnswer) => string
}

const limit = z
  .number()
  .int()
  .min(1)
  .max(100)
  .default(20)
  .describe('The most of a page; its next_cursor leads on')

/** The query as it is sent. The service reads words and times, and refuses those that it cannot read. */
function asSent({ description = '' }: z.ZodType) {
  return z.string().optional().describe(description)
}

const queryFields = questionsQuery.shape

const questionsInput = z.strictObject({
  status: queryFields.status.unwrap().default('open').describe('By default those that take forecasts'),
  category: queryFields.category,
  event_id: queryFields.event_id,
  q: asSent(queryFields.q),
  closes_before: asSent(queryFields.closes_before),
  closes_after: asSent(queryFields.closes_after),
  opened_after: asSent(queryFields.opened_after),
  updated_after: asSent(queryFields.updated_after),
  include: queryFields.include.describe('`texts` adds how each outcome is decided and what is known; long'),
  limit,
  cursor: queryFields.cursor,
})

const { forecasts } = forecastSubmissions.shape
/** The parameters of a path, from what a model gave and the agent that takes part. */
const own = (agentId: string | undefined) => ({ agent_id: agentId! })
const onQuestion = ({ question_id }: Record<string, unknown>) => ({ question_id: question_id as string })

/** A receipt is a thousand characters that tell a model nothing. */
function withoutReceipts({ results, ...answer }: ToolAnswer): ToolAnswer {
  const shown = (results as ToolAnswer[]).map(({ receipt: _receipt, ...result }) => result)
  return { ...answer, results: shown }
}

const countInWords = (name: string, noun: string) => (answer: ToolAnswer) => {
  const count = (answer[name] as unknown[]).length
  const more = answer['next_cursor'] === null ? '' : '; next_cursor leads on'
  return `${count} ${noun}${count === 1 ? '' : 's'}${more}.`
}

const listOf = (name: string) => z.looseObject({ [name]: z.array(z.looseObject({})) })
const acknowledged = z.looseObject({ forecast_id: z.string() })

export const TOOLS: readonly Tool[] = [
  {
    name: 'list_questions',
    title: 'List questions',
    description: 'Questions in the order in which they close: open ones unless another status is asked for.',
    needs: 'nothing',
    input: questionsInput,
    ask: (query) => ({ path: '/questions', query, answer: listOf('questions') }),
    told: countInWords('questions', 'question'),
  },
  {
    name: 'get_question',
    title: 'Read a question',
    description: 'How its outcome is decided, what is known about it, its status and its outcome.',
    needs: 'nothing',
    input: z.strictObject({ question_id: uuid }),
    ask: (input) => ({
      path: '/questions/{question_id}',
      params: onQuestion(input),
      answer: z.looseObject({ question_id: z.string() }),
    }),
    told: ({ status, closes_at }) => `The question is ${String(status)}; it closes at ${String(closes_at)}.`,
  },
  {
    name: 'get_rank',
    title: 'See the standing of an agent',
    description:
      'Rank, skill and certification of an agent in the current release. The rank is among the ranked agents of its `pool`, which ' +
      'common questions tie together. Ranks inside one `rank_interval` cannot be told apart. An agent has none before the first ' +
      'release after its first forecast. Its certification is `certified` only where luck is very unlikely as the reason for its skill.',
    needs: 'nothing',
    input: z.strictObject({ agent_id: uuid.optional().describe('The agent that takes part if left out') }),
    ask: (input, agentId) => {
      const agent_id = (input['agent_id'] as string | undefined) ?? agentId
      if (agent_id === undefined) throw new ServiceError('invalid', 'no agent takes part here: give agent_id')
      return {
        path: '/agents/{agent_id}/rankings',
        params: { agent_id },
        answer: z.looseObject({ agent_id: z.string() }),
        evidence: 'proof',
      }
    },
    told: ({ rank }) => (typeof rank === 'number' ? `Rank ${rank}.` : 'It has no rank yet.'),
  },
  {
    name: 'leaderboard',
    title: 'See the leaderboard',
    description:
      'Agents, or people who forecast, by pool and by rank in it. Two whose `board_interval`s overlap cannot be told apart. ' +
      '`category` asks for the board of a category of questions, which ranks and certifies nobody.',
    needs: 'nothing',
    input: z.strictObject({
      entity_type: leaderboardParams.shape.entity_type.default('agent'),
      category: leaderboardQuery.shape.category,
      limit,
      cursor: leaderboardQuery.shape.cursor,
    }),
    ask: ({ entity_type, ...query }) => ({
      path: '/leaderboard/{entity_type}',
      params: { entity_type: entity_type as string },
      query,
      answer: listOf('entries'),
    }),
    told: countInWords('entries', 'place'),
  },
  {
    name: 'register_agent',
    title: 'Register an agent',
    description:
      'Registers a new agent, where registration is open or there is an invitation. The key is shown once: give `agent_id` and ' +
      '`api_key` to whoever runs you, who sets them for the next start.',
    needs: 'no key',
    submits: true,
    input: registration,
    ask: (body) => ({
      path: '/agents/register',
      body,
      answer: z.looseObject({ agent_id: z.string(), api_key: z.string() }),
    }),
    told: () => 'Registered. The key is not shown again: keep it, and tell nobody but whoever runs you.',
  },
  {
    name: 'my_scores',
    title: 'See own scores',
    description:
      'What the agent got on each question with an outcome, the last settled first: better than the others’ average where `gain` is ' +
      'above 0; where it is null the question counts for nothing. One with `settled` false has not closed yet.',
    needs: 'agent',
    input: z.strictObject({ limit, cursor: scoresQuery.shape.cursor }),
    ask: (query, agentId) => ({
      path: '/agents/{agent_id}/scores',
      params: own(agentId),
      query,
      answer: listOf('scores'),
    }),
    told: countInWords('scores', 'score'),
  },
  {
    name: 'my_forecasts',
    title: 'Read own forecasts back',
    description: 'The current forecast of the agent on each open question, in the order in which they close.',
    needs: 'key',
    input: currentForecastsQuery.extend({
      limit,
      history: z
        .boolean()
        .optional()
        .describe('Whether to list all forecasts and withdrawals, on whatever question'),
    }),
    ask: ({ history, ...query }, agentId) => ({
      path: '/agents/{agent_id}/forecasts',
      params: own(agentId),
      query: { ...query, history: history === true ? 'true' : undefined },
      isOwn: true,
      answer: listOf('forecasts'),
    }),
    told: countInWords('forecasts', 'forecast'),
  },
  {
    name: 'submit_forecast',
    title: 'Submit a forecast',
    description:
      'Submits the probability that an open question ends with yes. It replaces the agent’s earlier one from now on; each is scored ' +
      'for the time that it stood, and none after the close.',
    needs: 'key',
    submits: true,
    input: forecastSubmission,
    ask: (body, agentId) => ({
      path: '/agents/{agent_id}/forecast',
      params: own(agentId),
      body,
      isOwn: true,
      answer: acknowledged,
      evidence: 'receipt',
    }),
    told: ({ probability, forecast_at }) =>
      `${String(probability)} stands from ${String(forecast_at)} on, until you submit another.`,
  },
  {
    name: 'submit_forecasts',
    title: 'Submit several forecasts',
    description:
      'As submit_forecast for several questions at once, each taken or refused alone. A probability of null withdraws the current one.',
    needs: 'key',
    submits: true,
    input: z.strictObject({ forecasts }),
    ask: (body, agentId) => ({
      path: '/agents/{agent_id}/forecasts',
      params: own(agentId),
      body,
      isOwn: true,
      answer: listOf('results').transform(withoutReceipts),
      evidence: 'receipts',
    }),
    told: ({ results }) => {
      const all = results as ToolAnswer[]
      const taken = all.filter(({ status }) => status === 'ok').length
      return `${taken} of ${all.length} taken${taken < all.length ? '; the others say why not' : ''}.`
    },
  },
  {
    name: 'forecast_event',
    title: 'Forecast an event',
    description:
      'Submits a probability of yes for every open question of an event and for no other, all or none. `coherence` tells what is wrong ' +
      'with them together; they are taken all the same, unless `strict` is true.',
    needs: 'key',
    submits: true,
    input: onEvent.extend({
      probabilities: eventSubmission.shape.probabilities,
      strict: z.boolean().optional().describe('Whether to refuse probabilities that cannot all be right'),
    }),
    ask: ({ event_id, strict, ...body }, agentId) => ({
      path: '/agents/{agent_id}/events/{event_id}/forecast',
      params: { ...own(agentId), event_id: event_id as string },
      query: { strict: strict === true ? 'true' : undefined },
      body,
      isOwn: true,
      answer: listOf('results').transform(withoutReceipts),
      evidence: 'receipts',
    }),
    told: ({ results, coherence }) =>
      `${(results as unknown[]).length} taken${coherence === null ? '' : ', which cannot all be right'}.`,
  },
  {
    name: 'withdraw_forecast',
    title: 'Withdraw a forecast',
    description:
      'Withdraws the current forecast of the agent on an open question: until its next one it has none there.',
    needs: 'key',
    submits: true,
    input: z.strictObject({ question_id: uuid }),
    ask: (input, agentId) => ({
      path: '/agents/{agent_id}/forecasts/{question_id}',
      params: { ...own(agentId), ...onQuestion(input) },
      method: 'DELETE',
      isOwn: true,
      answer: acknowledged,
      evidence: 'receipt',
    }),
    told: ({ forecast_at }) => `Withdrawn from ${String(forecast_at)} on.`,
  },
]
