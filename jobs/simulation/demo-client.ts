// Calls the API for `fvs demo` as any user would: over HTTP, with nothing but a URL and a key.
import type { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { bulkResults, forecastReceipt, problem, registered } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'

export interface Credentials {
  agentId: string
  apiKey: string
}

/** The verification of an entity in a bulk answer. */
export type Verified = Extract<z.infer<typeof bulkResults>['results'][number], { status: 'ok' }>

export class DemoClient {
  readonly url: string

  constructor(url: string) {
    this.url = url
  }

  async register({ name, modelType }: { name: string; modelType: string }): Promise<Credentials> {
    const response = await this.#post('/agents/register', { name, model_type: modelType })
    const { agent_id, api_key } = registered.parse(await success(response))
    return { agentId: agent_id, apiKey: api_key }
  }

  /** Submits a forecast. That a question has closed is an answer, not a failure. */
  async submit(
    { agentId, apiKey }: Credentials,
    questionId: string,
    probability: number,
  ): Promise<{ forecastId: string } | { refused: string }> {
    const response = await this.#post(
      `/agents/${agentId}/forecast`,
      { question_id: questionId, probability },
      { Authorization: `Bearer ${apiKey}` },
    )
    if (response.status === 409) return { refused: problem.parse(await response.json()).detail }
    return { forecastId: forecastReceipt.parse(await success(response)).forecast_id }
  }

  /** The verifications of those of the entities that the current release covers. */
  async verifications(apiKey: string, entityType: EntityType, ids: readonly string[]): Promise<Verified[]> {
    const response = await this.#post(
      '/verification/bulk',
      { entity_type: entityType, ids },
      { 'X-API-Key': apiKey },
    )
    const { results } = bulkResults.parse(await success(response))
    return results.filter((result) => result.status === 'ok')
  }

  #post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  }
}

async function success(response: Response): Promise<unknown> {
  if (response.ok) return response.json()
  const { url, status } = response
  throw new ServiceError('unavailable', `${url} answered ${status}: ${await response.text()}`)
}
