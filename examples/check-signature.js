// Checks the signature of an agent’s verification with the secret that the operator shares (docs/verifying.md).
import { createHmac, timingSafeEqual } from 'node:crypto'

const { FVS_URL, AGENT_ID, SIGNING_SECRET } = process.env

const limits = { redirect: 'error', signal: AbortSignal.timeout(10_000) }
const response = await fetch(`${FVS_URL}/agents/${AGENT_ID}/verification`, limits)
const body = Buffer.from(await response.arrayBuffer())
const expected = Buffer.from('v1=' + createHmac('sha256', SIGNING_SECRET).update(body).digest('hex'))
const holds = (response.headers.get('x-service-signature') ?? '')
  .split(',')
  .map((entry) => Buffer.from(entry.trim()))
  .some((entry) => entry.length === expected.length && timingSafeEqual(entry, expected))
if (!holds) throw new Error('the signature does not hold')
// Another record would be signed too: `voice_rule` is in verifications only.
const { agent_id, environment, voice_rule, release, as_of, certification } = JSON.parse(body)
const asked = FVS_URL.endsWith('/sandbox') ? 'sandbox' : 'production'
if (agent_id !== AGENT_ID || environment !== asked || !voice_rule) throw new Error('this is another record')
console.log(certification, release, as_of)
