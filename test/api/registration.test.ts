// Who may register: anyone, whoever is invited, or nobody.
import { afterEach, expect, test } from 'vitest'
import { inviteAgents } from '../../jobs/agents.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { suiteFolder } from '../support/folder.ts'
import { expectProblem } from '../support/http/problem.ts'
import { Clock, type TestService, startTestService, testComponents } from '../support/http/service.ts'
import { NOW, uuidOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()
const clock = new Clock(NOW)
let service: TestService
afterEach(() => service.stop())

const AGENT = { name: 'an agent', model_type: 'a model' }

async function serving(REGISTRATION: string, store = new MemoryStore()) {
  const components = await testComponents({ store, folder, clock, settings: { REGISTRATION } })
  service = await startTestService(components)
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
