// The receiver of docs/operate.md, run out of the page: it takes calls of the service, and no others.
import { spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { blocksOf } from '../support/fenced-blocks.ts'

const hasPython = spawnSync('python3', ['--version']).error === undefined
if (!hasPython && process.env['CI'] === 'true') throw new Error('python3 is not installed')

const SECRET = `whsec_${Buffer.from('a key of a webhook in a test').toString('base64')}`
const BODY = '{"id":"1_0","title":"Will it? ☂"}'
const RUN = `
import json, sys
case = json.load(sys.stdin)
print(json.dumps([is_from_the_service(case["secret"], headers, case["body"].encode()) for headers in case["calls"]]))
`

/** Whether the sample takes each call. */
function taken(calls: readonly Record<string, string>[]): boolean[] {
  const { code } = blocksOf('docs/operate.md').find(({ language }) => language === 'python')!
  const input = JSON.stringify({ secret: SECRET, body: BODY, calls })
  const { stdout, stderr } = spawnSync('python3', ['-c', code + RUN], { input, encoding: 'utf8' })
  expect(stderr).toBe('')
  return JSON.parse(stdout) as boolean[]
}

/** The headers of a call as the service sends it, `agoS` seconds ago. */
function sent(agoS = 0): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000) - agoS)
  const key = Buffer.from(SECRET.replace('whsec_', ''), 'base64')
  const signature = createHmac('sha256', key).update(`1_0.${timestamp}.${BODY}`).digest('base64')
  return { 'webhook-id': '1_0', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

test.skipIf(!hasPython)('the sample takes a call of the service, with more signatures too', () => {
  const call = sent()
  const others = `v1,${Buffer.alloc(32).toString('base64')} ${call['webhook-signature']} v1a,AAAA`
  expect(taken([call, { ...call, 'webhook-signature': others }])).toEqual([true, true])
})

test.skipIf(!hasPython).each([
  ['that is sent again an hour later', sent(3600)],
  ['of an hour to come', sent(-3600)],
  ['whose time is another', { ...sent(), 'webhook-timestamp': sent(10)['webhook-timestamp']! }],
  ['whose time is no number', { ...sent(), 'webhook-timestamp': 'now' }],
  ['whose time is in other digits', { ...sent(), 'webhook-timestamp': '²' }],
  ['whose time is too long to read', { ...sent(), 'webhook-timestamp': '9'.repeat(5000) }],
  ['whose id is another', { ...sent(), 'webhook-id': '1_1' }],
  ['whose signature is not ASCII', { ...sent(), 'webhook-signature': 'v1,é' }],
  ['whose signature is no text of Unicode', { ...sent(), 'webhook-signature': 'v1,\udc80' }],
  ['whose signature is empty', { ...sent(), 'webhook-signature': '' }],
  ['without any header', {}],
])('the sample refuses a call %s, and raises nothing', (_name, call) => {
  expect(taken([call])).toEqual([false])
})
