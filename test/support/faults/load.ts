// Agents that register and submit without pause over HTTP, remember what was acknowledged, and repeat what
// was not.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { signatureHolds } from '../../../pipeline/proof/hmac.ts'
import type { Promised } from './check-store.ts'
import type { Choices } from './seeded.ts'
import { type Answer, Client, SECRET, bearer } from '../http/service.ts'

/** A call that may be sent again, because it carries an Idempotency-Key. */
interface Repeatable {
  key: string
  /** Undefined for a registration. */
  submission?: { agentId: string; questionId: string; probability: number }
  name: string
  /** What it was answered with: every repetition must be answered the same. */
  id?: string
}

export interface LoadCounts {
  acknowledged: number
  registered: number
  /** Repeated calls that were answered with what the first attempt made. */
  repeated: number
  /** Published payloads that were read, with a signature that holds. */
  read: number
  /** Calls without an answer, or answered 5xx. */
  unanswered: number
}

const WORKERS = 8
const REGISTRATIONS = 0.05
const WITH_KEY = 0.4
const REPETITIONS = 0.1
const READS = 0.1

export class Load {
  /** Statuses that the faults of a test explain, beyond 5xx and 429. */
  explained: readonly number[] = []
  readonly counts: LoadCounts = { acknowledged: 0, registered: 0, repeated: 0, read: 0, unanswered: 0 }
  /** Answers that no fault explains, each with its evidence. */
  readonly wrong: string[] = []
  readonly #promised: Promised
  readonly #choices: Choices
  readonly #unsettled: Repeatable[] = []
  readonly #settled: Repeatable[] = []
  readonly #clients = new Map<string, Client>()
  #sequence = 0

  constructor(promised: Promised, choices: Choices) {
    this.#promised = promised
    this.#choices = choices
  }

  /**
   * Calls the nodes until the signal, on the questions that are open then. A node may come, go and come back.
   */
  async run(
    nodes: () => readonly string[],
    questions: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    await Promise.all(
      Array.from({ length: WORKERS }, async () => {
        while (!signal.aborted) {
          const urls = nodes()
          if (urls.length === 0 || !(await this.#step(this.#choices.pick(urls), questions))) await pause(5)
        }
      }),
    )
  }

  /** Calls the nodes for this long, and on a slow machine until there is enough. */
  async runFor(
    ms: number,
    nodes: () => readonly string[],
    questions: readonly string[],
    isEnough = (_counts: LoadCounts) => true,
  ): Promise<void> {
    const stop = new AbortController()
    const running = this.run(nodes, questions, stop.signal)
    await pause(ms)
    while (!isEnough(this.counts)) await pause(50)
    stop.abort()
    await running
  }

  /**
   * Repeats what has no answer yet until all of it has one, or the time is over. Returns how many are left.
   */
  async settle(url: string, withinMs: number): Promise<number> {
    const until = performance.now() + withinMs
    await Promise.all(
      Array.from({ length: WORKERS }, async () => {
        while (this.#unsettled.length > 0 && performance.now() < until) {
          await this.#repeat(url, this.#unsettled.shift()!)
          await pause(20)
        }
      }),
    )
    return this.#unsettled.length
  }

  /** Sends one call. False if it had no answer, so that the caller pauses. */
  async #step(url: string, questions: readonly string[]): Promise<boolean> {
    const { random, chance, pick } = this.#choices
    if (chance(REPETITIONS)) {
      const again = this.#unsettled.shift() ?? (this.#settled.length > 0 ? pick(this.#settled) : undefined)
      if (again) return this.#repeat(url, again)
    }
    const agents = [...this.#promised.agents]
    if (agents.length > 0 && chance(READS)) return this.#read(url, ...pick(agents))
    this.#sequence += 1
    const call: Repeatable = { key: randomUUID(), name: `agent ${this.#sequence}` }
    if (agents.length > 0 && !chance(REGISTRATIONS)) {
      const [agentId] = pick(agents)
      call.submission = {
        agentId,
        questionId: pick(questions),
        probability: Math.round(random() * 1e6) / 1e6,
      }
    }
    return this.#send(url, call, chance(WITH_KEY))
  }

  async #repeat(url: string, call: Repeatable): Promise<boolean> {
    return this.#send(url, call, true)
  }

  /** Reads what is published of an agent with its key, which counts the call, and checks the signature. */
  async #read(url: string, agentId: string, { key }: { key: string }): Promise<boolean> {
    let answer: Answer
    try {
      answer = await this.#client(url).get(`/agents/${agentId}/verification`, { 'X-API-Key': key })
    } catch {
      this.counts.unanswered += 1
      return false
    }
    // No release may have covered it yet.
    if (answer.status === 404) return true
    if (this.#isTrouble(answer.status)) {
      this.counts.unanswered += 1
      return false
    }
    const signature = String(answer.headers['x-service-signature'])
    if (answer.status !== 200 || !signatureHolds(answer.bytes, signature, [SECRET])) {
      this.wrong.push(`${answer.status} ${answer.text} with signature ${signature} for agent ${agentId}`)
      return true
    }
    const { release } = answer.json<{ release: number }>()
    this.counts.read += 1
    this.#promised.served.set(`${release} ${agentId}`, answer.text)
    return true
  }

  async #send(url: string, call: Repeatable, repeatable: boolean): Promise<boolean> {
    const { submission, name, key } = call
    const headers = repeatable ? { 'Idempotency-Key': key } : {}
    let answer: Answer
    try {
      answer = submission
        ? await this.#client(url).post(
            `/agents/${submission.agentId}/forecast`,
            { question_id: submission.questionId, probability: submission.probability },
            { ...headers, ...bearer(this.#promised.agents.get(submission.agentId)!.key) },
          )
        : await this.#client(url).post('/agents/register', { name, model_type: 'a model' }, headers)
    } catch {
      return this.#leave(call, repeatable)
    }
    if (this.#isTrouble(answer.status)) return this.#leave(call, repeatable)
    // Under way on another node, or left by a node that died: it says when to ask again.
    if (answer.status === 409 && answer.headers['retry-after'] !== undefined) {
      this.#repeatLater(call, repeatable)
      return true
    }
    // The question was resolved, or the first attempt is too long ago: the service has promised nothing.
    if (answer.status === 409) return true
    if (answer.status !== 200 && answer.status !== 201) {
      this.wrong.push(`${answer.status} ${answer.text} for ${JSON.stringify(call)}`)
      return true
    }
    this.#acknowledge(call, answer, repeatable)
    return true
  }

  #isTrouble(status: number): boolean {
    return status >= 500 || status === 429 || this.explained.includes(status)
  }

  #leave(call: Repeatable, repeatable: boolean): false {
    this.counts.unanswered += 1
    this.#repeatLater(call, repeatable)
    return false
  }

  #repeatLater(call: Repeatable, repeatable: boolean): void {
    if (repeatable && call.id === undefined) this.#unsettled.push(call)
  }

  #acknowledge(call: Repeatable, answer: Answer, repeatable: boolean): void {
    const { submission, name } = call
    const body = answer.json<{ forecast_id: string; agent_id: string; api_key: string }>()
    const id = submission ? body.forecast_id : body.agent_id
    if (call.id !== undefined) {
      this.counts.repeated += 1
      if (call.id !== id) this.wrong.push(`a repeated call was answered ${id} after ${call.id}`)
      return
    }
    call.id = id
    if (repeatable) this.#settled.push(call)
    if (submission) {
      this.counts.acknowledged += 1
      const { agentId, questionId, probability } = submission
      this.#promised.forecasts.set(id, { entityId: agentId, questionId, probability, repeatable })
    } else {
      this.counts.registered += 1
      this.#promised.agents.set(id, { name, key: body.api_key })
    }
  }

  #client(url: string): Client {
    const client = this.#clients.get(url) ?? new Client(url)
    this.#clients.set(url, client)
    return client
  }
}
