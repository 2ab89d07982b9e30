// What the operator says of agents: that it is kept whatever arrives later or at once, and that a refusal
// writes nothing.
import { beforeEach, describe, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { listAgents } from '../../jobs/agents/agents.ts'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { type StatedCounts, assignOwner, retire } from '../../pipeline/import/agents.ts'
import type { ImportContext } from '../../pipeline/import/take-in.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { inboxPrefix, offersPrefix } from '../../pipeline/store/paths.ts'
import type { AgentRow } from '../../schemas/tables.ts'
import { type Call, FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, registerAgent, release, startTestService, testComponents } from '../support/http/service.ts'
import { contentOf } from '../support/store-content.ts'
import { pathsOf, readRows, send } from '../support/tables.ts'
import { NOW, uuidOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()
const ADA = uuidOf(7, 1)
const BOB = uuidOf(7, 2)

let clock: Clock
let store: MemoryStore
let components: Components
let sent = 0

beforeEach(async () => {
  clock = new Clock(NOW)
  store = new MemoryStore()
  components = await testComponents({ store, clock, folder })
})

/** A row as POST /agents/register writes it. */
const registration = (agent_id: string, at = NOW): AgentRow => ({
  agent_id,
  name: `agent ${agent_id.slice(-1)}`,
  model_type: 'm',
  organization_name: 'an organization',
  owner_id: null,
  registered_at: new Date(at),
  retired_at: null,
  recorded_at: new Date(at),
})
const arrive = (...rows: AgentRow[]) => send(store, 'agents', uuidOf(8, ++sent), rows)

const pass = (minutes: number) => {
  clock.set(new Date(clock.now().getTime() + minutes * 60_000).toISOString())
}

const on = (work: (context: ImportContext) => Promise<StatedCounts>, over = components) =>
  withDatabase(over.openDatabase, (database) => work({ ...over, database }))
const assign = (owner: string | null, ...ids: string[]) => on((context) => assignOwner(context, ids, owner))
/** At the time of the command. */
const sayRetired = (context: ImportContext, ...ids: string[]) =>
  retire(context, new Map(ids.map((id) => [id, context.now().toISOString()])))
const retired = (...ids: string[]) => on((context) => sayRetired(context, ...ids))

interface Shown {
  agent_id: string
  owner_id: string | null
  registered_at: Date
  retired_at: Date | null
}
async function shown(agentId: string): Promise<Shown | undefined> {
  const { json } = await listAgents(components, {})
  return (json as { agents: Shown[] }).agents.find(({ agent_id }) => agent_id === agentId)
}

const rows = async () =>
  withDatabase(components.openDatabase, (database) => readRows({ ...components, database }, 'agents'))

describe('a statement about an agent', () => {
  test('is a row that keeps everything else, also of an agent that still waits in the inbox', async () => {
    await arrive(registration(ADA), registration(BOB))
    pass(1)
    expect(await assign('Ada', ADA)).toEqual({ agents: 1, changed: 1 })
    pass(1)
    expect(await retired(ADA)).toEqual({ agents: 1, changed: 1 })
    const at = (minutes: number) => new Date(Date.parse(NOW) + minutes * 60_000)
    const of = (fields: Partial<AgentRow>) => ({ ...registration(ADA), ...fields })
    expect((await rows()).filter(({ agent_id }) => agent_id === ADA)).toEqual([
      of({}),
      of({ owner_id: 'Ada', recorded_at: at(1) }),
      of({ owner_id: 'Ada', retired_at: at(2), recorded_at: at(2) }),
    ])
    expect(await pathsOf(store, inboxPrefix('agents'))).toEqual([])
    expect(await shown(BOB)).toMatchObject({ owner_id: null, retired_at: null })
  })

  test(
    'adds nothing where it is true already, and a retirement stays the first',
    { tags: ['slow'] },
    async () => {
      await arrive(registration(ADA), registration(BOB))
      pass(1)
      await assign('Ada', ADA)
      await retired(ADA)
      const first = await shown(ADA)
      pass(1)
      const before = await contentOf(store)
      expect(await assign('Ada', ADA)).toEqual({ agents: 1, changed: 0 })
      expect(await assign(null, BOB)).toEqual({ agents: 1, changed: 0 })
      expect(await retired(ADA, ADA)).toEqual({ agents: 1, changed: 0 })
      expect(await contentOf(store)).toEqual(before)
      expect(await assign('Ada', ADA, BOB)).toEqual({ agents: 2, changed: 1 })
      expect(await retired(ADA, BOB)).toEqual({ agents: 2, changed: 1 })
      expect(await shown(ADA)).toEqual(first)
    },
  )

  test('is corrected by the next, to another owner and to none', { tags: ['slow'] }, async () => {
    await arrive(registration(ADA))
    for (const owner of ['Bob', 'Ada', null, 'Ada']) {
      // Under a clock that goes backwards.
      pass(-1)
      expect(await assign(owner, ADA)).toEqual({ agents: 1, changed: 1 })
      expect(await shown(ADA)).toMatchObject({ owner_id: owner, registered_at: new Date(NOW) })
    }
  })

  test('names each agent once, by its id in any case', async () => {
    const id = 'abcdef00-0000-4000-8000-000000000001'
    await arrive(registration(id))
    expect(await assign('Ada', id.toUpperCase(), id)).toEqual({ agents: 1, changed: 1 })
    expect(await shown(id)).toMatchObject({ owner_id: 'Ada' })
  })

  test('is refused as a whole if an agent is not registered, and names it', async () => {
    await arrive(registration(ADA))
    await assign('Ada', ADA)
    const before = await contentOf(store)
    for (const say of [(...ids: string[]) => assign('Bob', ...ids), retired]) {
      await expect(say(ADA, BOB, `it's not an id`)).rejects.toMatchObject({
        kind: 'notFound',
        message: `no agent is registered by the id "${BOB}", "it's not an id"; nothing was written`,
      })
      const many = Array.from({ length: 25 }, (_, index) => uuidOf(9, index))
      await expect(say(...many)).rejects.toThrow(/ and 5 more; nothing was written$/)
    }
    expect(await contentOf(store)).toEqual(before)
  })

  test.each(['Ada', null])(
    'is not replaced by the registration if that arrives a second time: %s',
    { tags: ['slow'] },
    async (owner) => {
      await arrive(registration(ADA))
      pass(1)
      await assign('Bob', ADA)
      if (owner !== 'Bob') await assign(owner, ADA)
      const said = await shown(ADA)
      pass(60)
      await arrive(registration(ADA))
      expect(await shown(ADA)).toEqual(said)
      // Takes it in, after the statements.
      await release(components)
      expect(await shown(ADA)).toEqual(said)
      expect(await assign(owner, ADA)).toEqual({ agents: 1, changed: 0 })
      await retired(ADA)
      await arrive(registration(ADA))
      await release(components)
      expect(await shown(ADA)).toMatchObject({ owner_id: owner, retired_at: clock.now() })
    },
  )

  test(
    'counts although its agent registered in the same millisecond, or under a clock that is ahead',
    { tags: ['slow'] },
    async () => {
      await arrive(registration(ADA), registration(BOB, '2026-03-01T12:10:00.000Z'))
      await assign('Ada', ADA, BOB)
      await assign(null, ADA, BOB)
      await arrive(registration(ADA), registration(BOB, '2026-03-01T12:10:00.000Z'))
      await release(components)
      for (const id of [ADA, BOB]) expect(await shown(id)).toMatchObject({ owner_id: null })
      await assign('Ada', ADA, BOB)
      await arrive(registration(ADA), registration(BOB, '2026-03-01T12:10:00.000Z'))
      await release(components)
      for (const id of [ADA, BOB]) expect(await shown(id)).toMatchObject({ owner_id: 'Ada' })
    },
  )
})

describe('statements that are made at once', () => {
  /** Runs `rival` on the store once, when a statement is about to write its rows. */
  async function over(rival: () => Promise<unknown>): Promise<Components> {
    let isDone = false
    const before = async ({ operation, path }: Call) => {
      if (isDone || operation !== 'putIfAbsent' || !path.startsWith(offersPrefix('agents'))) return
      isDone = true
      await rival()
    }
    return testComponents({ store: new FaultStore(store, { before }), clock, folder })
  }

  test(
    'of an owner and of a retirement both hold, whichever is taken in first',
    { tags: ['slow'] },
    async () => {
      await arrive(registration(ADA), registration(BOB))
      await on((context) => assignOwner(context, [ADA], 'Ada'), await over(() => retired(ADA)))
      await on((context) => sayRetired(context, BOB), await over(() => assign('Bob', BOB)))
      expect(await shown(ADA)).toMatchObject({ owner_id: 'Ada', retired_at: expect.any(Date) as Date })
      expect(await shown(BOB)).toMatchObject({ owner_id: 'Bob', retired_at: expect.any(Date) as Date })
    },
  )

  test('of two owners end with the one that was taken in last', async () => {
    await arrive(registration(ADA))
    const said = await on(
      (context) => assignOwner(context, [ADA], 'Ada'),
      await over(() => assign('Bob', ADA)),
    )
    expect(said).toEqual({ agents: 1, changed: 1 })
    expect(await shown(ADA)).toMatchObject({ owner_id: 'Ada' })
  })

  test('of two retirements keep the first', async () => {
    await arrive(registration(ADA))
    const early = new Clock('2026-03-01T12:01:00.000Z')
    pass(2)
    const first = async () => {
      const other = await testComponents({ store, clock: early, folder })
      await on((context) => sayRetired(context, ADA), other)
    }
    await on((context) => sayRetired(context, ADA), await over(first))
    expect(await shown(ADA)).toMatchObject({ retired_at: early.now() })
  })
})

test('an agent is listed and assigned as soon as it has registered', async () => {
  const service = await startTestService(components)
  const { agentId } = await registerAgent(service.client, 'my agent')
  await service.stop()
  expect(await listAgents(components, {})).toMatchObject({
    json: { agents: [{ agent_id: agentId, name: 'my agent', owner_id: null, registered_at: new Date(NOW) }] },
  })
  expect(await assign('Ada', agentId)).toEqual({ agents: 1, changed: 1 })
})
