// @ts-check
// A bot: it finds open questions, reads each in full, submits a probability for all of them in one call, reads
// back what stands, and reads its scores. Any Node from 18 on runs it.
// Run it with FVS_URL, FVS_AGENT_ID and FVS_API_KEY in the environment: node examples/bot.js
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

const { FVS_URL, FVS_AGENT_ID, FVS_API_KEY } = process.env
const MOST_BYTES = 4 * 1024 * 1024

/** @typedef {{ question_id: string, title: string, resolution_criteria: string | null }} Question */

/** Put your own judgement here: 0.5 says nothing. */
const probabilityOf = (/** @type {Question} */ _question) => 0.5

/** The text of others must not steer a terminal. */
const plain = (/** @type {string} */ text) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')

/**
 * Fetches within 10 s and 4 MiB, and without redirects, which would take the key elsewhere.
 * @param {string} path
 */
async function answerOf(path, request = {}) {
  const limits = { redirect: /** @type {const} */ ('error'), signal: AbortSignal.timeout(10_000) }
  const { ok, headers, body } = await fetch(`${FVS_URL}${path}`, { ...request, ...limits })
  const chunks = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > MOST_BYTES) throw new Error(`${path} answers with more than ${MOST_BYTES} bytes`)
    chunks.push(chunk)
  }
  return { ok, headers, text: Buffer.concat(chunks).toString() }
}

/**
 * Sends a request, and the same one again if there is no answer or the answer says when to repeat it.
 * @param {string} path
 * @returns {Promise<any>}
 */
async function call(path, request = {}, left = 3) {
  const answer = await answerOf(path, request).catch(() => undefined)
  if (answer?.ok) return JSON.parse(answer.text)
  const waitS = Number(answer ? (answer.headers.get('retry-after') ?? Infinity) : 1)
  if (left === 0 || waitS > 60) throw new Error(plain(answer?.text ?? `${FVS_URL} does not answer`))
  await pause(waitS * 1000)
  return call(path, request, left - 1)
}

const own = `/agents/${FVS_AGENT_ID}`
const listed = await call('/questions?status=open&limit=100')
/** @type {Question[]} */
const full = await Promise.all(
  listed.questions.map((/** @type {Question} */ each) => call(`/questions/${each.question_id}`)),
)
const forecasts = full.map((each) => ({ question_id: each.question_id, probability: probabilityOf(each) }))
const authorization = { Authorization: `Bearer ${FVS_API_KEY}`, 'Content-Type': 'application/json' }
// However often the request is sent with this key, it takes effect once.
const headers = { ...authorization, 'Idempotency-Key': randomUUID() }
const request = { method: 'POST', headers, body: JSON.stringify({ forecasts }) }
const { results } = forecasts.length > 0 ? await call(`${own}/forecasts`, request) : { results: [] }
const taken = results.filter((/** @type {{ status: string }} */ each) => each.status === 'ok')
console.log(`${taken.length} of ${forecasts.length} forecasts taken`)

const current = await call(`${own}/forecasts`, { headers: authorization })
console.log(`${current.forecasts.length} stand on questions that are open`)

// Above 0 is better than the others. Before the first release with this agent, the service says when that is due.
const page = await call(`${own}/scores`).catch((error) => console.log(error.message))
for (const { title, peer_score } of page?.scores ?? [])
  console.log(`${peer_score.toFixed(1)} for ${plain(title)}`)
