// A bot over the client that openapi-typescript generates: `node bot.ts URL`. Prints what became of its
// forecasts.
import createClient from 'openapi-fetch'
import type { paths } from './api.d.ts'

const api = createClient<paths>({ baseUrl: process.argv[2]! })

const registration = { name: 'a generated bot', model_type: 'typescript' }
const { data: agent, error } = await api.POST('/agents/register', { body: registration })
if (!agent) throw new Error(error.detail)
const headers = { Authorization: `Bearer ${agent.api_key}`, 'Idempotency-Key': crypto.randomUUID() }

const { data: open } = await api.GET('/questions', { params: { query: { status: 'open', limit: 100 } } })
const forecasts = open!.questions.map(({ question_id }) => ({ question_id, probability: 0.5 }))
const params = { path: { agent_id: agent.agent_id } }
const { data: submitted } = await api.POST('/agents/{agent_id}/forecasts', {
  params,
  headers,
  body: { forecasts },
})
const told = submitted!.results.map((result) =>
  result.status === 'ok' ? `ok ${result.question_id}` : `refused ${result.problem.type}`,
)
const { error: early } = await api.GET('/agents/{agent_id}', { params })
console.log(JSON.stringify({ told, early: early?.type }))
