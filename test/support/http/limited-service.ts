// A service over a released world with the default limits, and the usage that it records.
import { beforeAll, onTestFinished } from 'vitest'
import { firstKeyId } from '../../../pipeline/access/api-key.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { keyPath } from '../../../pipeline/store/paths.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { type Call, FaultStore } from '../faults/fault-store.ts'
import { suiteFolder } from '../folder.ts'
import { inboxRows } from '../inbox-rows.ts'
import { Clock, type TestService, testComponents, testService } from './service.ts'
import { copyOf } from '../store-content.ts'
import { NOW, copyReleasedWorld } from '../worlds/world.ts'

/** An empty variable means the default. */
const DEFAULTS = {
  ANONYMOUS_PER_MINUTE: '',
  ANONYMOUS_PER_MONTH: '',
  READS_PER_MINUTE: '',
  PAGES_PER_MINUTE: '',
  ATTEMPTS_PER_MINUTE: '',
  OTHER_CALLS_PER_MINUTE: '',
  FORECASTS_PER_MINUTE: '',
  ADDRESS_FORECASTS_PER_MINUTE: '',
  FORECASTS_BURST: '',
  REGISTRATIONS_PER_HOUR: '',
  FREE_MONTHLY_CALLS: '',
}

export interface LimitedOptions {
  store: Store
  folder: string
  settings?: Record<string, string>
  clock?: Clock
}

export interface LimitedService extends TestService {
  clock: Clock
  store: Store
  newKey: () => Promise<string>
}

export const MONTH_S = 31 * 86_400
/** The time from NOW to the first of April. */
export const REST_OF_MONTH_S = MONTH_S - 12 * 3600

export const withQuota = (calls: number) => ({ FREE_MONTHLY_CALLS: String(calls) })

export interface LimitedWorld {
  /** Filled before the first test. Copy it, do not change it. */
  released: MemoryStore
  /** Starts a service over a copy of `released`, or over the store in the options. */
  served: (options?: Partial<LimitedOptions>) => Promise<LimitedService>
}

/** Call it at the top level of a file. */
export async function limitedWorld(): Promise<LimitedWorld> {
  const folder = await suiteFolder()
  const released = new MemoryStore()
  beforeAll(async () => {
    await copyReleasedWorld(released)
  })
  return { released, served: (options) => limitedService({ store: copyOf(released), folder, ...options }) }
}

/** Call it inside a test. */
export async function limitedService(options: LimitedOptions): Promise<LimitedService> {
  const { store, folder, settings = {}, clock = new Clock(NOW) } = options
  const components = await testComponents({ store, folder, clock, settings: { ...DEFAULTS, ...settings } })
  const service = await testService(components)
  const newKey = () => components.registry.createClientKey('Ada', clock.now())
  return { ...service, clock, store, newKey }
}

/** A copy of a world in which a test can delay or break calls of the store. */
export function faultyCopy(released: MemoryStore, before: (call: Call) => void | Promise<void>): FaultStore {
  return new FaultStore(copyOf(released), { before })
}

/**
 * A copy that delays the look-up of an agent: a call about it is counted at once, but ends only after `letGo`.
 */
export function holdingCopy(released: MemoryStore, agentId: string) {
  const arrived = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  onTestFinished(() => {
    gate.resolve()
  })
  const store = faultyCopy(released, async ({ operation, path }) => {
    if (operation !== 'get' || path !== keyPath(firstKeyId(agentId))) return
    arrived.resolve()
    await gate.promise
  })
  return { store, arrived: arrived.promise, letGo: gate.resolve }
}

/** The recorded usage as sorted texts, one per row. */
export async function usageOf(store: Store): Promise<string[]> {
  const rows = await inboxRows(store, 'usage')
  return rows
    .map(({ key_id, account_id, tier, day, calls }) => {
      return [key_id, 'of', account_id, tier, (day as Date).toISOString().slice(0, 10), calls].join(' ')
    })
    .toSorted()
}
