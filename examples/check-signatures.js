// Checks the signatures of many verifications of one call (docs/verifying.md).
import { createHmac } from 'node:crypto'

const { FVS_URL, USER_ID, SIGNING_SECRET } = process.env

/** RFC 8785 for what this service publishes: keys are ASCII. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.keys(value).sort()
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`
}

const response = await fetch(`${FVS_URL}/verification/bulk`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ entity_type: 'forecaster', ids: [USER_ID] }),
})
const { results } = await response.json()
for (const { id, status, verification, signature } of results) {
  if (status !== 'ok') continue
  const hmac = createHmac('sha256', SIGNING_SECRET).update(canonical(verification)).digest('hex')
  const holds = verification.user_id === id && signature.split(', ').includes(`v1=${hmac}`)
  if (!holds) throw new Error(`the signature of ${id} does not hold`)
  console.log(id, verification.badge)
}
