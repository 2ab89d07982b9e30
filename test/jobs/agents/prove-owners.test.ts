// The owners of agents by domains: claimed over HTTP, looked for by a job, used by the next release, lost after
// three misses, and overruled by the operator.
import { beforeEach, describe, expect, test } from 'vitest'
import { assignAgents } from '../../../jobs/agents/agents.ts'
import type { Components } from '../../../jobs/components/components.ts'
import { proveOwners } from '../../../jobs/agents/prove-owners.ts'
import { runRelease } from '../../../jobs/release/release.ts'
import { dueClaims, ownerClaimOf, ownerClaimsIn } from '../../../pipeline/access/owner-claims.ts'
import type { Reach } from '../../../pipeline/owners/look.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { expectValid } from '../../support/json-schema.ts'
import { expectProblem, pointersOf } from '../../support/http/problem.ts'
import { type Client, Clock, bearer, testComponents, testService } from '../../support/http/service.ts'
import { NOW, type WorldAgent, copyReleasedWorld, uuidOf } from '../../support/worlds/world.ts'

const DAY_MS = 86_400_000
const DOMAIN = 'example.org'
const OWNER = `domain:${DOMAIN}`

let clock: Clock
let components: Components
let client: Client
let agent: WorldAgent
/** The TXT records of each name. */
let records: Map<string, string[][]>
let isDown: boolean

beforeEach(async () => {
  clock = new Clock(NOW)
  components = await testComponents({ store: new MemoryStore(), clock })
  agent = await copyReleasedWorld(components.store)
  ;({ client } = await testService(components))
  records = new Map()
  isDown = false
})

const failure = (code: string) => Object.assign(new Error(code), { code })
const reach: Reach = {
  lookUp: () => Promise.reject(failure(isDown ? 'EAI_AGAIN' : 'ENOTFOUND')),
  resolveTxt: (name) =>
    isDown
      ? Promise.reject(failure('EAI_AGAIN'))
      : Promise.resolve(records.get(name) ?? Promise.reject(failure('ENOTFOUND'))),
  isPrivateAllowed: false,
  originOf: (domain) => `https://${domain}`,
  timeoutMs: 60_000,
}

const path = (of = agent) => `/agents/${of.agentId}/owner`
async function claimed(domain = DOMAIN, of = agent): Promise<Record<string, string | number | null>> {
  const answer = await client.post(path(of), { domain }, bearer(of.key))
  expect(answer.status, answer.text).toBe(200)
  expectValid('owner-claim', answer.json())
  return answer.json()
}
const state = async () => (await client.get(path(), bearer(agent.key))).json()
const look = async () => (await proveOwners(components, reach)).json
const later = (days: number) => clock.set(new Date(clock.now().getTime() + days * DAY_MS).toISOString())

/** The owner in the table of agents, as the next release has it. */
async function ownerReleased(): Promise<unknown> {
  later(0.01)
  expect((await runRelease(components, {})).ok).toBe(true)
  const { release } = (await client.get('/releases/current')).json<{ release: number }>()
  await expect
    .poll(async () => (await client.get('/releases/current')).json<{ release: number }>().release)
    .toBeGreaterThanOrEqual(release)
  return (await client.get(`/agents/${agent.agentId}/verification`)).json()['owner_id']
}

async function proved(): Promise<void> {
  const { record_name, token } = await claimed()
  records.set(record_name as string, [[token as string]])
  expect(await look()).toMatchObject({ looked: 1, owned: 1 })
}

describe('a claim', () => {
  test(
    'is answered with a token and where it belongs, and once more with the same',
    { tags: ['slow'] },
    async () => {
      const first = await claimed('Example.ORG')
      expect(first).toMatchObject({
        domain: DOMAIN,
        state: 'pending',
        file_url: 'https://example.org/.well-known/forecast-agents.json',
        record_name: '_forecast-agents.example.org',
        owner_id: OWNER,
      })
      expect(first['token']).toMatch(/^fvs-owner-[\w-]{24}$/)
      expect(await claimed()).toEqual(first)
      // Another domain before the proof takes its place.
      expect((await claimed('other.example'))['token']).not.toBe(first['token'])
    },
  )

  test.for([
    'localhost',
    'example',
    '127.0.0.1',
    '[::1]',
    'example.org:8080',
    'https://example.org',
    'user@example.org',
    'example.org.',
    'a..org',
    '-a.org',
    'x.local',
    'metadata.google.internal',
    'bücher.example',
    'below.example.org',
    'anyone.github.io',
    'co.uk',
    `${'a'.repeat(64)}.org`,
    `${'a.'.repeat(100)}org`,
  ])('of %s is refused', async (domain) => {
    expect(pointersOf(await client.post(path(), { domain }, bearer(agent.key)))).toEqual(['/domain'])
  })

  test('is of its agent alone', async () => {
    const { agentId } = { agentId: '01955c3a-7b1e-7c32-9d4f-2f6b8e1a0c5d' }
    for (const method of ['GET', 'DELETE'] as const)
      expectProblem(
        await client.send(method, `/agents/${agentId}/owner`, { headers: bearer(agent.key) }),
        403,
        /belongs to another agent/,
      )
    expectProblem(await client.get(path(), bearer(agent.key)), 404, /claims no owner/)
  })

  test('ends after 14 days without a proof, and is looked for with each run until then', async () => {
    await claimed()
    for (let day = 0; day <= 14; day += 7, later(7))
      expect(await look()).toMatchObject({ looked: 1, owned: 0 })
    expect(await look()).toMatchObject({ looked: 1, owned: 0, lost: 0 })
    expectProblem(await client.get(path(), bearer(agent.key)), 404, /claims no owner/)
  })
})

describe('a proved owner', () => {
  test('is that of the next release, and is looked for again after a month', { tags: ['slow'] }, async () => {
    await proved()
    expect(await state()).toMatchObject({ state: 'proved', misses: 0, reason: null })
    expect(await ownerReleased()).toBe(OWNER)
    // It is numbered as the first attempt of its owner, and measures nobody.
    const verified = (await client.get(`/agents/${agent.agentId}/verification`)).json()
    expect(verified).toMatchObject({ attempt: 1, owner_agents: 1 })
    const { voice } = (await client.get(`/agents/${agent.agentId}/metrics`)).json()
    expect(voice).toBe(false)
    const page = await client.get(`/view/agents/${agent.agentId}`)
    expect(page.text).toContain('proved by its domain')
    expect((await client.get(`/owners/${OWNER}`)).json()).toMatchObject({ owner_id: OWNER })
    expect(await look()).toMatchObject({ looked: 0 })
    later(30)
    expect(await look()).toMatchObject({ looked: 1, owned: 0, lost: 0 })
  })

  test(
    'is lost after three misses in a row, a day apart, and not while this network fails',
    { tags: ['slow'] },
    async () => {
      await proved()
      later(30)
      isDown = true
      for (let day = 0; day < 5; day++, later(1)) expect(await look()).toMatchObject({ looked: 1, lost: 0 })
      isDown = false
      const kept = new Map(records)
      records.clear()
      for (const misses of [1, 2]) {
        expect(await look()).toMatchObject({ looked: 1, lost: 0 })
        expect(await look()).toMatchObject({ looked: 0 })
        expect(await state()).toMatchObject({ state: 'missed', misses })
        later(1)
      }
      // What changes back in between begins anew.
      records = kept
      await look()
      expect(await state()).toMatchObject({ state: 'proved', misses: 0 })
      records.clear()
      later(30)
      for (let miss = 0; miss < 2; miss++, later(1)) await look()
      expect(await ownerReleased()).toBe(OWNER)
      expect(await look()).toMatchObject({ looked: 1, lost: 1 })
      expect(await ownerReleased()).toBeNull()
      expectProblem(await client.get(path(), bearer(agent.key)), 404, /claims no owner/)
    },
  )

  test('is given up by its agent before it claims another one', { tags: ['slow'] }, async () => {
    await proved()
    const other = await client.post(path(), { domain: 'other.example' }, bearer(agent.key))
    expectProblem(other, 409, /proved to be of example.org: give that up first/, 'other-owner-proved')
    expect((await client.send('DELETE', path(), { headers: bearer(agent.key) })).status).toBe(200)
    expectProblem(await client.get(path(), bearer(agent.key)), 404, /claims no owner/)
    expect(await look()).toMatchObject({ looked: 1, lost: 1 })
    expect(await ownerReleased()).toBeNull()
    await claimed('other.example')
  })

  test('comes after what the operator says, before and after', { tags: ['slow'] }, async () => {
    await claimed()
    await assignAgents(components, [agent.agentId], { owner: 'a lab' })
    records.set(`_forecast-agents.${DOMAIN}`, [['anything']])
    expect(await look()).toMatchObject({ looked: 0 })
    const refused = await client.post(path(), { domain: DOMAIN }, bearer(agent.key))
    expectProblem(refused, 403, /the operator has said who owns this agent/, 'owned-by-operator')
    expect(await ownerReleased()).toBe('a lab')
    await expect(assignAgents(components, [agent.agentId], { owner: OWNER })).rejects.toThrow(
      /must not begin with domain:/,
    )
  })

  test('does not replace an owner from before claims were known', { tags: ['slow'] }, async () => {
    await assignAgents(components, [agent.agentId], { owner: 'a lab' })
    await components.store.delete(`registry/owner-claims/${agent.agentId}.json`)
    const { record_name, token } = await claimed()
    records.set(record_name as string, [[token as string]])
    expect(await look()).toMatchObject({ looked: 1, owned: 0 })
    expect(await ownerReleased()).toBe('a lab')
  })
})

describe('a run', () => {
  test('looks once at a domain that many agents claim', async () => {
    const { record_name, token } = await claimed()
    const { store } = components
    const claims = ownerClaimsIn(store)
    const first = (await dueClaims(store, clock.now()))[0]!
    for (let n = 0; n < 20; n++)
      await claims.replace(uuidOf(9, n), { ...first, agent_id: uuidOf(9, n), token: `another ${n}` })
    records.set(record_name as string, [[token as string]])
    const names: string[] = []
    const counted: Reach = {
      ...reach,
      resolveTxt: (name, signal) => {
        names.push(name)
        return reach.resolveTxt(name, signal)
      },
    }
    expect((await proveOwners(components, counted)).json).toMatchObject({ looked: 21, left: 0, owned: 1 })
    expect(names).toEqual([record_name])
  })

  test('ends at its time, keeps what it found, and leaves silent domains as they were', async () => {
    const { record_name, token } = await claimed()
    const { store } = components
    const claims = ownerClaimsIn(store)
    const first = (await dueClaims(store, clock.now()))[0]!
    const silent = Array.from({ length: 100 }, (_, n) => ({
      ...first,
      agent_id: uuidOf(9, n),
      domain: `silent${n}.example`,
    }))
    for (const claim of silent) await claims.replace(claim.agent_id, { ...claim, looked_at: NOW })
    records.set(record_name as string, [[token as string]])
    const ending = new AbortController()
    let looks = 0
    const untilEnd = (signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(failure('ECANCELLED'))
        })
      })
    const slow: Reach = {
      ...reach,
      lookUp: (name, signal) => (name === DOMAIN ? reach.lookUp(name, signal) : untilEnd(signal)),
      resolveTxt: (name, signal) => {
        // All places are taken by silent names: nothing but the end of the run frees them.
        if (name !== record_name) {
          if (++looks === 63)
            setImmediate(() => {
              ending.abort()
            })
          return untilEnd(signal)
        }
        return reach.resolveTxt(name, signal)
      },
    }
    expect((await proveOwners(components, slow, ending.signal)).json).toMatchObject({
      looked: 1,
      left: 100,
      owned: 1,
    })
    expect(await dueClaims(store, clock.now())).toEqual(
      await Promise.all(silent.map(({ agent_id }) => ownerClaimOf(store, agent_id))),
    )
  })
})
