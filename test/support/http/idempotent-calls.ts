// Calls with an Idempotency-Key over a store in memory: nodes, work with visible effects, and those effects.
import { randomBytes } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { Idempotency, type IdempotentWork, sweepExpired } from '../../../pipeline/access/idempotency.ts'
import { canonical } from '../../../pipeline/proof/canonical.ts'
import { claimPath, inboxPath, inboxPrefix } from '../../../pipeline/store/paths.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { FaultStore } from '../faults/fault-store.ts'
import { recordIn } from '../store-content.ts'
import { Clock } from './service.ts'

export const START = Date.parse('2026-03-01T12:00:00.000Z')
export const LEASE_MS = 10_000
export const HOUR_MS = 60 * 60_000
export const KEY = 'c1b6c3c8-8c39-4a43-9a2f-0e5a1ad0e8a7'
export const REQUEST = { scope: 'a call', key: KEY, body: { text: 'the request' } }
/** Another request under the same key. */
export const ANOTHER = { ...REQUEST, body: { text: 'another request' } }
/** The claim, the commit and the note that the call is done. */
export const WRITES_OF_A_CALL = 3

export interface Answer {
  id: string
  at: string
  salt: string
}

/** A call whose commit writes another object each time, as that of a forecast does. */
export function forecast(store: Store): IdempotentWork<Answer> {
  return {
    check: () => Promise.resolve(),
    answer: ({ id, at, salt }) => ({ id, at: at.toISOString(), salt }),
    commit: async (_, answer) => {
      const bytes = canonical(answer)
      await store.putIfAbsent(inboxPath('forecasts', uuidv7(), bytes), bytes)
    },
  }
}

export function refuse(kind: 'invalid' | 'conflict' | 'corrupt'): () => Promise<void> {
  return () => Promise.reject(new ServiceError(kind, 'refused'))
}

/** A store, a clock, and nodes over them that share no state, as if each were a process of its own. */
export function world(store = new MemoryStore(), clock = new Clock(new Date(START).toISOString())) {
  const watched = new FaultStore(store)
  return {
    store,
    clock,
    watched,
    node: (over: Store = watched) => newNode(over, clock, LEASE_MS),
    /** The calls of the store through `watched`: operation and first folder. */
    calls: () => watched.calls.map(({ operation, path }) => `${operation} ${path.split('/')[0]}`),
  }
}

export function newNode(store: Store, clock: Clock, leaseMs: number): Idempotency {
  return new Idempotency({ store, newId: () => uuidv7(), now: clock.now, randomBytes, leaseMs })
}

export function passMs(clock: Clock, ms: number): void {
  clock.set(new Date(clock.now().getTime() + ms).toISOString())
}

/** Deletes the expired claims of all parts at one instant. */
export async function sweepAll(store: Store, now: Date): Promise<number> {
  let deleted = 0
  for (let part = 0; part < 16; part++) deleted += await sweepExpired(store, now, part)
  return deleted
}

export async function outcome<T>(call: Promise<T>): Promise<{ answer?: T; error?: unknown }> {
  try {
    return { answer: await call }
  } catch (error) {
    return { error }
  }
}

/** Work whose commit says that it was reached, and then waits to be released. */
export function heldBack(work: IdempotentWork<Answer>) {
  const arrived = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const commit: typeof work.commit = async (claim, answer) => {
    arrived.resolve()
    await released.promise
    await work.commit(claim, answer)
  }
  return { held: { arrived: arrived.promise, release: released.resolve }, work: { ...work, commit } }
}

/** Several views of one store whose users all wait for each other before their first create. */
export function meetingAt(store: Store, count: number): FaultStore[] {
  let arrived = 0
  const all = Promise.withResolvers<void>()
  return Array.from({ length: count }, () => {
    let waited = false
    return new FaultStore(store, {
      before: async ({ operation }) => {
        if (waited || operation !== 'putIfAbsent') return
        waited = true
        arrived += 1
        if (arrived === count) all.resolve()
        await all.promise
      },
    })
  })
}

/** The answers that calls left in the inbox, in the order in which they were written. */
export function effects(store: MemoryStore): Answer[] {
  const objects = [...store.objects].filter(([path]) => path.startsWith(inboxPrefix('forecasts')))
  return objects.map(([, bytes]) => JSON.parse(new TextDecoder().decode(bytes)) as Answer)
}

/** The effects as scoring counts them: identical rows count once. */
export function distinctEffects(store: MemoryStore): Answer[] {
  const distinct = new Set(effects(store).map((effect) => JSON.stringify(effect)))
  return [...distinct].map((effect) => JSON.parse(effect) as Answer)
}

export async function claimIn(store: MemoryStore): Promise<Answer & { state: string; fingerprint: string }> {
  const claim = recordIn(store, claimPath(REQUEST.scope, REQUEST.key)) as unknown
  return claim as Answer & { state: string; fingerprint: string }
}

/** All paths and contents as text. */
export function everythingIn({ objects }: MemoryStore): string {
  return [...objects].map(([path, bytes]) => `${path} ${new TextDecoder().decode(bytes)}`).join('\n')
}
