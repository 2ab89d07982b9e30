// Calls the API for `fvs demo` as any user would: over HTTP, with only a URL and a key.
import { z } from 'zod'
import { acknowledgedForecast, bulkResults, problem, question, registered } from '../../schemas/answers.ts'
import { parseCheckpoint } from '../../pipeline/proof/checkpoint.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { agentRankings, forecasterRankings, owner } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'

export type Credentials = z.infer<typeof registered>

export class DemoClient {
  readonly url: string

  constructor(url: string) {
    this.url = url
  }

  register(name: string, model_type: string): Promise<Credentials> {
    return this.#post('/agents/register', registered, { name, model_type })
  }

  /** Submits a forecast. Returns a problem, and does not throw, if the question has closed. */
  submit({ agent_id, api_key }: Credentials, question_id: string, probability: number) {
    const answer = z.union([acknowledgedForecast, problem])
    const headers = { Authorization: `Bearer ${api_key}` }
    return this.#post(`/agents/${agent_id}/forecast`, answer, { question_id, probability }, headers)
  }

  /** Returns undefined if the service does not know the question yet. */
  async questionStatus(id: string): Promise<string | undefined> {
    const response = await fetch(`${this.url}/questions/${id}`)
    const text = await response.text()
    if (response.ok) return question.parse(JSON.parse(text)).status
    if (response.status === 404) return undefined
    throw unexpected(response, text)
  }

  /** Returns the verifications of the entities that the current release covers, in the order of `ids`. */
  async verifications(apiKey: string, entity_type: EntityType, ids: readonly string[]) {
    const headers = { 'X-API-Key': apiKey }
    const { results } = await this.#post('/verification/bulk', bulkResults, { entity_type, ids }, headers)
    return results.filter((result) => result.status === 'ok')
  }

  rankings(entity_type: EntityType, id: string) {
    return entity_type === 'agent'
      ? this.#call(`/agents/${id}/rankings`, agentRankings)
      : this.#call(`/forecaster/${id}/rankings`, forecasterRankings)
  }

  owner(ownerId: string) {
    return this.#call(`/owners/${encodeURIComponent(ownerId)}`, owner)
  }

  /** Returns the number of releases in the public log, as far as the service knows. */
  async loggedReleases(): Promise<number> {
    const response = await fetch(`${this.url}/log/checkpoint`)
    const text = await response.text()
    if (response.ok) return parseCheckpoint(text).checkpoint.size
    if (response.status === 404) return 0
    throw unexpected(response, text)
  }

  #post<T>(path: string, answer: z.ZodType<T>, body: object, headers: object = {}): Promise<T> {
    return this.#call(path, answer, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  }

  async #call<T>(path: string, answer: z.ZodType<T>, request: RequestInit = {}): Promise<T> {
    const response = await fetch(this.url + path, request)
    if (response.ok || response.status === 409) return answer.parse(await response.json())
    throw unexpected(response, await response.text())
  }
}

function unexpected({ url, status }: Response, text: string): ServiceError {
  return new ServiceError('unavailable', `${url} answered ${status}: ${text}`)
}
