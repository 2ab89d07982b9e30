// What agents said by calls of their own, and what the operator says of them, while two runs write it to the
// table at once: the last thing that was acknowledged holds.
import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { assignAgents, hideAgent, renameAgent, unretireAgents } from '../../../jobs/agents/agents.ts'
import { recordOwnStatements } from '../../../jobs/agents/own-statements.ts'
import type { Components } from '../../../jobs/components/components.ts'
import { proveOwners } from '../../../jobs/agents/prove-owners.ts'
import { claimDomain, giveUpClaim } from '../../../pipeline/access/owner-claims.ts'
import { askForName } from '../../../pipeline/access/renames.ts'
import { withDatabase } from '../../../pipeline/duckdb.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { RENAMING_PREFIX, offersPrefix } from '../../../pipeline/store/paths.ts'
import { type Call, FaultStore } from '../../support/faults/fault-store.ts'
import { suiteFolder } from '../../support/folder.ts'
import { Clock, testComponents } from '../../support/http/service.ts'
import { readRows, send } from '../../support/tables.ts'
import { NOW, uuidOf } from '../../support/worlds/world.ts'

const folder = await suiteFolder()
const ADA = uuidOf(7, 1)
const REGISTERED = 'Ada as registered'
const REASON = { reason: 'to try it' }

let clock: Clock
let store: MemoryStore
let components: Components

beforeEach(async () => {
  clock = new Clock(NOW)
  store = new MemoryStore()
  components = await testComponents({ store, clock, folder })
  const times = { registered_at: clock.now(), retired_at: null, recorded_at: clock.now() }
  const said = { name: REGISTERED, model_type: 'm', organization_name: null, owner_id: null }
  await send(store, 'agents', uuidOf(8, 1), [{ agent_id: ADA, ...said, ...times }])
})

const ask = (name: string, aheadMs = 0) =>
  askForName(store, { agent_id: ADA, name }, new Date(clock.now().getTime() + aheadMs))

/** Does something once, before the first call of a run that `isIt`. */
async function interrupted(
  isIt: (call: Call) => boolean,
  rival: () => Promise<unknown>,
): Promise<Components> {
  let isDone = false
  const before = async (call: Call) => {
    if (isDone || !isIt(call)) return
    isDone = true
    await rival()
  }
  return testComponents({ store: new FaultStore(store, { before }), clock, folder })
}

const isOffer = ({ operation, path }: Call) =>
  operation === 'putIfAbsent' && path.startsWith(offersPrefix('agents'))

async function shown(): Promise<{ name: string; retired_at: Date | null; owner_id: string | null }> {
  const rows = await withDatabase(components.openDatabase, (database) =>
    readRows({ ...components, database }, 'agents'),
  )
  const [last] = rows.sort((a, b) => (a['recorded_at']! > b['recorded_at']! ? -1 : 1))
  return last as unknown as Awaited<ReturnType<typeof shown>>
}

describe('the last name that was asked for is the one that is written', () => {
  test.for([['another one', 'a third one'] as const, ['another one', REGISTERED] as const])(
    'though an older run still writes %s when a newer one has written %s',
    async ([first, last]) => {
      await ask(first)
      const older = await interrupted(isOffer, async () => {
        await ask(last)
        await recordOwnStatements(components)
      })
      await recordOwnStatements(older)
      expect((await shown()).name).toBe(last)
      await recordOwnStatements(components)
      expect((await shown()).name).toBe(last)
    },
  )

  test('though another run takes the notes away while they are read', async () => {
    await ask('another one')
    await ask('a third one')
    let reads = 0
    const isSecondRead = ({ operation, path }: Call) =>
      operation === 'get' && path.startsWith(RENAMING_PREFIX) && ++reads === 2
    await recordOwnStatements(await interrupted(isSecondRead, () => recordOwnStatements(components)))
    expect((await shown()).name).toBe('a third one')
  })

  test('though it was asked of a node whose clock is behind', async () => {
    await ask('another one', 30_000)
    await ask('a third one')
    await recordOwnStatements(components)
    expect((await shown()).name).toBe('a third one')
  })
})

describe('the operator decides, though a run is about to write what the agent said', () => {
  test('of a name', async () => {
    await ask('another one')
    const run = await interrupted(isOffer, () => renameAgent(components, ADA, 'a proper name', REASON))
    await recordOwnStatements(run)
    expect((await shown()).name).toBe('a proper name')
  })

  test('of a name that the agent has already', async () => {
    await ask('another one')
    const run = await interrupted(isOffer, () => renameAgent(components, ADA, REGISTERED, REASON))
    await recordOwnStatements(run)
    expect((await shown()).name).toBe(REGISTERED)
  })

  test('of hiding, also where the command is cut off after it has written the table', async () => {
    await ask('another one')
    const isNote = ({ operation, path }: Call) =>
      operation === 'put' && path.startsWith('registry/moderation/')
    const cutOff = await interrupted(isNote, () => Promise.reject(new Error('killed')))
    await hideAgent(cutOff, ADA, REASON).catch(() => undefined)
    const isHidden = (await shown()).name === ''
    await recordOwnStatements(components)
    expect((await shown()).name === '').toBe(isHidden)
  })

  test('of a retirement that is taken back, also where the run is killed right after it has written', async () => {
    await components.registry.askToRetire(ADA, clock.now())
    clock.set('2026-03-03T00:00:00.000Z')
    let isWritten = false
    const run = await interrupted(
      (call) => {
        if (isOffer(call)) isWritten = true
        return isOffer(call)
      },
      () => unretireAgents(components, [ADA]),
    )
    await recordOwnStatements(run)
    expect(isWritten).toBe(true)
    expect((await shown()).retired_at).toBeNull()
  })
})

describe('an owner by a domain is written only if its claim still stands', () => {
  let token: string
  beforeEach(async () => {
    const asked = { agent_id: ADA, domain: 'example.org' }
    ;({ token } = await claimDomain(store, asked, { randomBytes, now: clock.now() }))
  })

  /** Looks for the proof, and does something when it is found, before it is written. */
  const prove = (by: Components, meanwhile = () => Promise.resolve<unknown>(undefined)) =>
    proveOwners(by, {
      lookUp: () => Promise.reject(Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' })),
      resolveTxt: async () => {
        await meanwhile()
        return [[token]]
      },
      isPrivateAllowed: false,
      originOf: (domain) => `https://${domain}`,
      timeoutMs: 60_000,
    })
  const free = () => assignAgents(components, [ADA], { owner: false })

  test('and not where the operator says meanwhile that the agent has none', async () => {
    await prove(components, free)
    expect((await shown()).owner_id).toBeNull()
  })

  test('and not where the operator says so when the run is about to write', async () => {
    await prove(await interrupted(isOffer, free))
    expect((await shown()).owner_id).toBeNull()
  })

  test('and not where the agent gives it up, and another run has ended it', async () => {
    await prove(components)
    expect((await shown()).owner_id).toBe('domain:example.org')
    clock.set(new Date(clock.now().getTime() + 31 * 86_400_000).toISOString())
    const end = async () => {
      await giveUpClaim(store, ADA)
      await prove(components)
    }
    await prove(components, end)
    expect((await shown()).owner_id).toBeNull()
  })
})
