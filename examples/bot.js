// @ts-check
// A bot: it finds open questions, submits a probability for all of them, reads back what stands, and reads its
// scores. It runs in Node from 20 on, with the client: npm install the file that `npm pack ./clients/typescript` makes.
// Run it with FVS_URL, FVS_AGENT_ID and FVS_API_KEY in the environment, and with LOG_VKEY to verify every receipt:
// node examples/bot.js
import { Client } from 'forecast-verification-client'

const { FVS_URL: url = '', FVS_AGENT_ID: agentId = '', FVS_API_KEY: apiKey, LOG_VKEY } = process.env
const client = new Client({ url, agentId, apiKey, vkeys: LOG_VKEY })

/** Put your own judgement here: 0.5 says nothing. */
const probabilityOf = (/** @type {import('forecast-verification-client').ListedQuestion} */ _question) => 0.5

/** The text of others must not steer a terminal. */
const plain = (/** @type {string | null} */ text) => (text ?? '').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')

try {
  const forecasts = []
  for await (const question of client.questions())
    forecasts.push({ question_id: question.question_id, probability: probabilityOf(question) })
  const results = await client.submit(forecasts)
  console.log(
    `${results.filter(({ status }) => status === 'ok').length} of ${forecasts.length} forecasts taken`,
  )

  const standing = []
  for await (const forecast of client.forecasts()) standing.push(forecast)
  console.log(`${standing.length} stand on questions that are open`)

  // Above 0 is better than the others. Before the first release with this agent, the service says when that is due.
  for await (const { title, peer_score } of client.scores())
    console.log(`${peer_score.toFixed(1)} for ${plain(title)}`)
} catch (error) {
  const { message, type } = /** @type {Error & { type?: string }} */ (error)
  console[type === 'not-released-yet' ? 'log' : 'error'](message)
  process.exitCode = type === 'not-released-yet' ? 0 : 1
}
