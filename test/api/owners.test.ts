// What is published of owners: every agent of each, whatever its name, and nothing of agents without one.
import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import { assignAgents, retireAgents } from '../../jobs/agents/agents.ts'
import { runAudit } from '../../jobs/audit/audit.ts'
import { ownerFiles, ownersFile } from '../../pipeline/release/files/owners.ts'
import { rankEntities } from '../../pipeline/release/payloads.ts'
import { ENTITIES_PER_SHARD } from '../../pipeline/release/shards.ts'
import { entryOf } from '../../pipeline/release/output.ts'
import { scoreEntity } from '../../pipeline/scoring/entity.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { NO_LISTING } from '../../pipeline/scoring/categories.ts'
import { NO_PAIRS } from '../../pipeline/scoring/pairs.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { OwnerShard } from '../../schemas/payloads.ts'
import { suiteFolder } from '../support/folder.ts'
import { expectValid } from '../support/json-schema.ts'
import { expectProblem, pointersOf } from '../support/http/problem.ts'
import { test } from '../support/http/fixtures.ts'
import {
  Clock,
  SECRET,
  type TestService,
  registerAgent,
  release,
  testComponents,
} from '../support/http/service.ts'
import { UNTOLD_FACTS } from '../support/worlds/scored-world.ts'
import { copyOf } from '../support/store-content.ts'
import { submitForecasts } from '../support/worlds/submitted-forecasts.ts'
import {
  FORECAST_LINES,
  NOW,
  copyReleasedWorld,
  forecasterId,
  openForecastLine,
  uuidOf,
} from '../support/worlds/world.ts'

const OWNER = 'Laboratory of Owners'
/** Names that break what is built from them carelessly. */
const ODD_OWNERS = ['__proto__', 'constructor', 'a/b?c=%2F#d', 'Ünïted 研究所 👩‍🔬', '0']

const folder = await suiteFolder()
const store = new MemoryStore()
let service: TestService
let agents: { first: string; idle: string; retired: string; free: string }
let odd: string[]

test.beforeAll(async ({ serve }) => {
  const components = await testComponents({ store, folder, clock: new Clock(NOW) })
  const { agentId: first } = await copyReleasedWorld(store)
  service = await serve(components)
  const register = async () => (await registerAgent(service.client)).agentId
  agents = { first, idle: await register(), retired: await register(), free: await register() }
  odd = []
  for (const owner of ODD_OWNERS) {
    const agentId = await register()
    odd.push(agentId)
    await assignAgents(components, [agentId], { owner })
  }
  // Those of the person who is worst, so that it is scored and not certified.
  const forecasts = FORECAST_LINES.filter((line) => line.includes(forecasterId(5))).map((line) =>
    line.replace(`forecaster,${forecasterId(5)}`, `agent,${agents.retired}`),
  )
  const others = [agents.idle, agents.free, ...odd].map(openForecastLine)
  await submitForecasts(store, [...forecasts, ...others])
  await assignAgents(components, [agents.first, agents.idle, agents.retired], { owner: OWNER })
  await retireAgents(components, [agents.retired])
  await release(components)
})

const pathOf = (owner: string) => `/owners/${encodeURIComponent(owner)}`

test('an owner has every agent that has made a forecast, retired and idle ones too, each as its verification says', async () => {
  const answer = await service.client.get(pathOf(OWNER))
  expect(answer.status, answer.text).toBe(200)
  expectValid('owner', answer.json())
  const listed = await Promise.all(
    [agents.first, agents.idle, agents.retired].sort().map(async (agent_id) => {
      const found = await service.client.get(`/agents/${agent_id}/verification`)
      const { certification, skill } = found.json()
      const retired_at =
        agent_id === agents.retired ? (expect.stringMatching(/^2026-03-01T/) as string) : null
      return { agent_id, name: expect.any(String) as string, certification, skill, retired_at }
    }),
  )
  const skills = listed.map(({ skill }) => skill as number | null).filter((skill) => skill !== null)
  expect(skills).toHaveLength(2)
  expect(answer.json()).toEqual({
    owner_id: OWNER,
    agents: listed,
    scored_agents: 2,
    certified: 0,
    best_skill: Math.max(...skills),
    middle_skill: Math.min(...skills),
    methodology_version: METHODOLOGY.version,
    release: 2,
    as_of: NOW,
    environment: 'production',
  })
})

test('the answer is signed over its exact bytes', async () => {
  const { bytes, headers } = await service.client.get(pathOf(OWNER))
  expect(headers['x-service-signature']).toBe(
    `v1=${createHmac('sha256', SECRET).update(bytes).digest('hex')}`,
  )
  expect(headers['cache-control']).toBe('public, max-age=60')
})

test('an owner may have any name', async () => {
  for (const [i, owner_id] of ODD_OWNERS.entries()) {
    const answer = await service.client.get(pathOf(owner_id))
    expect(answer.status, owner_id).toBe(200)
    expect(answer.json()).toMatchObject({ owner_id, agents: [{ agent_id: odd[i] }], best_skill: null })
  }
})

test('whom nobody has recorded is not there, and what is no name is refused', async () => {
  for (const owner of ['nobody', 'hasOwnProperty', OWNER.toLowerCase(), `${OWNER} `, uuidOf(9, 9)]) {
    expectProblem(await service.client.get(pathOf(owner)), 404, /has no agent of an owner/)
  }
  for (const owner of [' ', 'a\u0000b', 'a\u200bb', 'x'.repeat(201), 'e\u0301']) {
    expect(pointersOf(await service.client.get(pathOf(owner))), JSON.stringify(owner)).toEqual(['/owner_id'])
  }
})

test(
  'an audit derives the file of owners again, and finds one in which a number was changed',
  { tags: ['slow'] },
  async () => {
    const audited = async (change: (text: string) => string) => {
      const copy = copyOf(store)
      const path = 'releases/00000002/owners/000.json'
      copy.objects.set(path, Buffer.from(change(Buffer.from(copy.objects.get(path)!).toString())))
      return (await runAudit(await testComponents({ store: copy, folder, clock: new Clock(NOW) }), 2)).json
    }
    expect(await audited((text) => text)).toMatchObject({ ok: true, faults: [] })
    expect(await audited((text) => text.replace('"scored_agents":2', '"scored_agents":1'))).toMatchObject({
      ok: false,
      signatures: { invalid: 1 },
      faults: expect.arrayContaining([
        expect.stringContaining(`signatures: owner "${OWNER}" (and perhaps others)`),
        "owners/000.json: its SHA-256 is not the manifest's",
      ]) as string[],
    })
  },
)

test('owners are divided into files of 256 in order of name, and found in them', { tags: ['slow'] }, () => {
  const ownerIds = Array.from({ length: 2 * ENTITIES_PER_SHARD + 1 }, (_, i) => `owner ${i}`)
  const circumstances = {
    voice: true,
    owner_agents: 0,
    attempt: null,
    pool: null,
    pool_size: null,
    offered_questions: 0,
    answered_share: null,
    isRetired: false,
  }
  const entities = ownerIds.map((ownerId, i) => ({
    entityType: 'agent' as const,
    entityId: uuidOf(3, i),
    facts: { ...UNTOLD_FACTS, name: 'n', owner_id: ownerId },
    pairs: 0,
    scores: scoreEntity(METHODOLOGY, NO_PAIRS, circumstances),
    listing: NO_LISTING,
  }))
  const provenance = {
    methodology_version: METHODOLOGY.version,
    release: 1,
    as_of: NOW,
    environment: 'production' as const,
  }
  const files = [...ownerFiles(rankEntities(METHODOLOGY, 'recorded', entities), provenance, () => null)]
  expect(files.map(({ path, rows }) => [path, rows])).toEqual([
    ['owners/000.json', 256],
    ['owners/001.json', 256],
    ['owners/002.json', 1],
  ])
  const manifest = files.map((file) => entryOf(file))
  for (const ownerId of ownerIds) {
    const found = files.find(({ path }) => path === ownersFile(manifest, ownerId)?.path)!
    const { owners } = JSON.parse(new TextDecoder().decode(found.bytes)) as OwnerShard
    expect(owners.map(({ payload }) => payload.owner_id)).toContain(ownerId)
  }
  expect(ownersFile(manifest, 'a')).toBeUndefined()
  expect([...ownerFiles([], provenance, () => null)]).toEqual([])
})
