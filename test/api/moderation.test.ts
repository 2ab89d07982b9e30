// What the operator does to names: an agent is renamed, or hidden, which takes it out of every list.
import { expect } from 'vitest'
import { assignAgents, hideAgent, listAgents, renameAgent } from '../../jobs/agents/agents.ts'
import type { Components } from '../../jobs/components/components.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { suiteFolder } from '../support/folder.ts'
import { expectValid } from '../support/json-schema.ts'
import { test } from '../support/http/fixtures.ts'
import { Clock, type TestService, release, testComponents } from '../support/http/service.ts'
import { stagedRelease } from '../support/staged-release.ts'
import { copyOf } from '../support/store-content.ts'
import { NOW, copyReleasedWorld, uuidOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()
const clock = new Clock(NOW)
const store = new MemoryStore()
const OWNER = 'an owner'
const BAD = 'Something <b>offensive</b>'
let components: Components
let service: TestService
let agentId: string

test.beforeAll(async ({ serve }) => {
  components = await testComponents({ store, folder, clock })
  ;({ agentId } = await copyReleasedWorld(store))
  await assignAgents(components, [agentId], { owner: OWNER })
  service = await serve(components)
})

/** Makes a release, in one process and in stages to the same files, and waits until it is served. */
async function released(number: number): Promise<void> {
  const staged = copyOf(store)
  await stagedRelease(await testComponents({ store: staged, folder, clock }))
  expect(await release(components)).toMatchObject({ made: true, release: number })
  expect((await readManifest(staged, number))!.files).toEqual((await readManifest(store, number))!.files)
  await expect
    .poll(async () => (await service.client.get('/releases/current')).json()['release'], { interval: 20 })
    .toBe(number)
}

const namesIn = async (path: string, list: string) =>
  (await service.client.get(path)).json<Record<string, { name: string }[]>>()[list]!.map(({ name }) => name)

test(
  'an agent is renamed, hidden and shown again by the operator, with a reason',
  { tags: ['slow'] },
  async () => {
    await renameAgent(components, agentId.toUpperCase(), BAD, { reason: 'to try it' })
    await released(2)
    expect(await namesIn('/leaderboard/agent', 'entries')).toEqual([BAD])
    expect(await namesIn(`/owners/${OWNER}`, 'agents')).toEqual([BAD])

    expect((await hideAgent(components, agentId, { reason: 'offensive' })).json).toMatchObject({ changed: 1 })
    expect((await hideAgent(components, agentId, { reason: 'again' })).json).toMatchObject({ changed: 0 })
    await released(3)
    expect(await namesIn('/leaderboard/agent', 'entries')).toEqual([])
    expect((await service.client.get(`/owners/${OWNER}`)).status).toBe(404)
    const record = await service.client.get(`/agents/${agentId}/verification`)
    expectValid('agent-verification', record.json())
    expect(record.json()).toMatchObject({ name: null, model_type: null, owner_id: OWNER })
    const profile = await service.client.get(`/agents/${agentId}`)
    expectValid('agent-profile', profile.json())
    for (const path of ['/', '/view/agents', `/view/agents/${agentId}`, '/sitemap.xml']) {
      const { status, text } = await service.client.get(path)
      expect([path, status]).toEqual([path, 200])
      expect(text).not.toContain('offensive')
    }
    expect((await listAgents(components, {})).text).toContain('(hidden)')

    await renameAgent(components, agentId, 'a name', { reason: 'appealed' })
    await released(4)
    expect(await namesIn('/leaderboard/agent', 'entries')).toEqual(['a name'])
    const reasons = [...store.objects].filter(([path]) => path.startsWith('registry/moderation/'))
    expect(reasons.map(([, bytes]) => Buffer.from(bytes).toString()).join()).toContain('appealed')
  },
)

test('a name that breaks the rule, and an agent that nobody registered, change nothing', async () => {
  const before = new Map(store.objects)
  await expect(renameAgent(components, agentId, ' ', { reason: 'r' })).rejects.toMatchObject({
    kind: 'invalid',
  })
  await expect(hideAgent(components, uuidOf(9, 9), { reason: 'r' })).rejects.toMatchObject({
    kind: 'notFound',
  })
  expect(store.objects).toEqual(before)
})
