// `fvs webhooks` and `fvs operator log` as an operator uses them, and what a serving process delivers.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { reportOperatorLog } from '../../../jobs/operator/operator.ts'
import { addWebhook, listWebhooks, removeWebhook } from '../../../jobs/operator/webhooks.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { OPERATOR_SCOPES } from '../../../schemas/tiers.ts'
import { Clock, bearer, testComponents, testService } from '../../support/http/service.ts'
import { uuidOf } from '../../support/worlds/world.ts'

const NOW = '2026-03-01T12:00:00.000Z'
/** No test lasts until then. */
const NEVER = '0 0 29 2 1'
const SETTINGS = {
  WEBHOOKS_PRIVATE: 'true',
  RELEASE_SCHEDULE: NEVER,
  SANDBOX_RELEASE_SCHEDULE: NEVER,
}
const componentsOf = (settings: Record<string, string> = {}) =>
  testComponents({ store: new MemoryStore(), clock: new Clock(NOW), settings })

test('add shows the secret once, list never does, and remove ends it', async () => {
  const components = await componentsOf()
  const { json, text } = await addWebhook(components, 'https://hooks.example/?token=mine', [
    'question.closed',
  ])
  const { webhook_id: id, secret } = json as { webhook_id: string; secret: string }
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(text).toContain(secret)
  const listed = await listWebhooks(components)
  expect(listed.text).toBe(`${id}  https://hooks.example/?token=mine  question.closed  in order`)
  expect(JSON.stringify(listed)).not.toContain(secret.slice('whsec_'.length))
  await removeWebhook(components, id)
  expect((await listWebhooks(components)).text).toBe('no webhooks')
  await expect(removeWebhook(components, id)).rejects.toMatchObject({ kind: 'notFound' })
  await expect(removeWebhook(components, '../keys/x')).rejects.toMatchObject({ kind: 'notFound' })
})

test('add refuses an address that no webhook may have, and writes nothing', async () => {
  const components = await componentsOf()
  for (const url of ['http://hooks.example/', 'https://127.0.0.1/', 'https://me:pass@hooks.example/', 'no']) {
    await expect(addWebhook(components, url, undefined), url).rejects.toMatchObject({ kind: 'invalid' })
  }
  expect((await listWebhooks(components)).text).toBe('no webhooks')
})

test(
  'a serving process that makes releases tells a webhook what an operator does, and the log has the call',
  { tags: ['slow'] },
  async () => {
    const began = performance.now()
    const now = () => new Date(Date.parse(NOW) + performance.now() - began)
    const components = { ...(await componentsOf(SETTINGS)), now }
    const received: { type: string; title: string }[] = []
    const receiver = createServer((request, response) => {
      void request.toArray().then((chunks) => {
        received.push(
          JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as { type: string; title: string },
        )
        response.writeHead(204).end()
      })
    })
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    onTestFinished(() => {
      receiver.close()
    })
    const { client } = await testService(components, { scheduler: true })
    const next = async () => (await client.get('/feed?after=end')).json<{ next: string }>().next
    await expect.poll(next).toBe('2_0')
    await addWebhook(components, `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`, undefined)
    const key = await components.registry.createOperatorKey('a platform', new Date(NOW), OPERATOR_SCOPES)
    const question = {
      question_id: uuidOf(1, 1),
      title: 'Will it rain?',
      opened_at: '2026-01-01T00:00:00Z',
      closes_at: '2026-06-01T00:00:00Z',
    }
    const answer = await client.send('PUT', '/operator/questions', {
      headers: { 'Content-Type': 'application/json', ...bearer(key) },
      body: { questions: [question], reason: 'a new one' },
    })
    expect(answer.status, answer.text).toBe(200)
    await expect.poll(() => received).toMatchObject([{ type: 'question.opened', title: 'Will it rain?' }])
    await expect
      .poll(async () => (await listWebhooks(components)).json)
      .toMatchObject({ webhooks: [{ failing: null, after: expect.stringMatching(/^[3-9]_0$/) }] })
    const { text } = await reportOperatorLog(components, undefined)
    expect(text.replace(/^\S+/, '')).toBe(
      `  done  ${key.split('_')[2]} of a platform  PUT /operator/questions  rows 1: 1 added, 0 changed, 0 known already (questions-1); a new one`,
    )
    expect((await reportOperatorLog(components, new Date('2026-03-02T00:00:00Z'))).text).toBe(
      'no call of an operator',
    )
  },
)
