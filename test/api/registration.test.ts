// Who may register: anyone, whoever is invited, or nobody.
import { expect, onTestFinished, test } from 'vitest'
import { MOUNTS } from '../../api/mounts.ts'
import { inviteAgents } from '../../jobs/agents/agents.ts'
import { startService } from '../../jobs/serve/service.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { ENVIRONMENTS } from '../../schemas/values.ts'
import { suiteFolder } from '../support/folder.ts'
import { expectProblem } from '../support/http/problem.ts'
import {
  Client,
  Clock,
  type TestService,
  bearer,
  importRows,
  release,
  testComponents,
  testService,
  withSandbox,
} from '../support/http/service.ts'
import { expectValid } from '../support/json-schema.ts'
import { NOW, QUESTION, QUESTIONS_CSV, uuidOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()
const clock = new Clock(NOW)
let service: TestService

const AGENT = { name: 'an agent', model_type: 'a model' }

async function serving(REGISTRATION: string, store = new MemoryStore()) {
  const components = await testComponents({ store, folder, clock, settings: { REGISTRATION } })
  service = await testService(components)
  const register = (fields: object = {}, headers = {}) =>
    service.client.post('/agents/register', { ...AGENT, ...fields }, headers)
  return { store, components, register }
}

test('an invitation registers one agent, however often its request is sent', async () => {
  const { store, components, register } = await serving('invited')
  const { json } = await inviteAgents(components, { count: 2 })
  const [first, second] = (json as { invitations: string[] }).invitations
  const refused = await register()
  expectProblem(refused, 403, /^only those who are invited .*: none was sent$/)
  expect(refused.json()).toMatchObject({ type: '/problems/not-invited' })
  expectProblem(await register({ invitation: `${first}x` }), 403, /nobody gave this one out/)

  const once = { 'Idempotency-Key': uuidOf(8, 1) }
  const answer = await register({ invitation: first }, once)
  expect(answer.status, answer.text).toBe(201)
  expect((await register({ invitation: first }, once)).text).toBe(answer.text)
  expectProblem(await register({ invitation: first }), 403, /this one was used/)
  const rivals = await Promise.all([1, 2, 3].map(() => register({ invitation: second })))
  expect(rivals.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 403, 403])
  for (const [path, bytes] of store.objects) {
    expect(path + Buffer.from(bytes).toString('latin1')).not.toContain(first)
  }
})

test('where registration is closed nobody registers, and where it is open an invitation is not used up', async () => {
  const { store, components, register } = await serving('closed')
  const { json } = await inviteAgents(components, { count: 1 })
  const [invitation] = (json as { invitations: string[] }).invitations
  const refused = await register({ invitation })
  expectProblem(refused, 403, /^registration is closed/)
  expect(refused.json()).toMatchObject({ type: '/problems/registration-closed' })
  await service.stop()
  for (const registration of ['open', 'open', 'invited']) {
    expect((await (await serving(registration, store)).register({ invitation })).status).toBe(201)
    if (registration === 'open') await service.stop()
  }
})

test(
  'its Location is the profile, once a release has the agent, in the sandbox under /sandbox',
  { tags: ['slow'] },
  async () => {
    const at = new Clock(NOW)
    const both = withSandbox(await testComponents({ store: new MemoryStore(), folder, clock: at }))
    for (const environment of ENVIRONMENTS) await importRows(both[environment], 'questions', QUESTIONS_CSV)
    const started = await startService(both, { scheduler: false, firstCallsMs: 0 })
    onTestFinished(() => started.stop())
    const client = new Client(started.url)
    const named: { agent_id: string; environment: string; location: string }[] = []
    for (const [environment, mount] of Object.entries(MOUNTS)) {
      const answer = await client.post(`${mount}/agents/register`, AGENT)
      const { agent_id, api_key } = answer.json<{ agent_id: string; api_key: string }>()
      const location = String(answer.headers['location'])
      expect(location).toBe(`${mount}/agents/${agent_id}`)
      const forecast = { question_id: QUESTION.open, probability: 0.5 }
      const taken = await client.post(`${location}/forecast`, forecast, bearer(api_key))
      expect(taken.status, taken.text).toBe(200)
      named.push({ agent_id, environment, location })
    }
    at.set('2026-03-01T13:00:00.000Z')
    for (const environment of ENVIRONMENTS) await release(both[environment])
    for (const { location, ...profile } of named) {
      await expect.poll(async () => (await client.get(location)).json()).toMatchObject(profile)
      expectValid('agent-profile', (await client.get(location)).json())
    }
  },
)
