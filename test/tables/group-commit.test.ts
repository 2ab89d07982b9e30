// Group commit: rows share objects, and no row that was acknowledged is missing, whatever the store does.
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { GroupCommit, type GroupCommitSettings } from '../../pipeline/tables/group-commit.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { type InboxRow, inboxObjects, inboxRows } from '../support/inbox-rows.ts'
import { uuidOf } from '../support/worlds/world.ts'

const AT = new Date('2026-03-01T12:00:00.000Z')

const rowOf = (number: number) => ({
  forecast_id: uuidOf(3, number),
  entity_type: 'agent',
  entity_id: uuidOf(4, 1),
  question_id: uuidOf(1, 1),
  probability: number / 1e6,
  forecast_at: AT,
  recorded_at: AT,
  source: 'api',
})

const numbersOf = (rows: InboxRow[]) => rows.map(({ probability }) => Math.round(Number(probability) * 1e6))

interface Commit {
  rows: number
  durationMs: number
}

function groupOver(store: Store, settings: Partial<GroupCommitSettings> = {}) {
  let ids = 0
  let ms = 0
  const commits: Commit[] = []
  const group = new GroupCommit(
    'forecasts',
    { queueLimit: 10_000, timeoutMs: 10_000, ...settings },
    {
      store,
      newId: () => uuidOf(6, ids++),
      monotonicMs: () => ms++,
      onCommit: ({ rows, durationMs }) => commits.push({ rows: rows.length, durationMs }),
    },
  )
  return { group, commits, submit: (number: number) => group.submit(rowOf(number)) }
}

/** A store whose creates wait until the test releases them, one by one. */
class HeldStore extends MemoryStore {
  readonly waiting: { release: () => void; fail: (error: Error) => void }[] = []
  #arrived: (() => void)[] = []

  override async putIfAbsent(path: string, bytes: Uint8Array): Promise<boolean> {
    const gate = Promise.withResolvers<void>()
    this.waiting.push({ release: gate.resolve, fail: gate.reject })
    for (const resolve of this.#arrived.splice(0)) resolve()
    await gate.promise
    return super.putIfAbsent(path, bytes)
  }

  /** Resolves to the next create once there is one. */
  async next(): Promise<HeldStore['waiting'][number]> {
    while (this.waiting.length === 0) await new Promise<void>((resolve) => this.#arrived.push(resolve))
    return this.waiting.shift()!
  }
}

const TIMEOUT_MS = 30

/** Time that passes only when the test says so. */
function heldTime(): { timeOut: () => void } {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  return { timeOut: () => void vi.advanceTimersByTime(TIMEOUT_MS) }
}

const settled = (promises: Promise<unknown>[]) => Promise.allSettled(promises)
const unavailable = (message: RegExp) =>
  expect.objectContaining({
    kind: 'unavailable',
    retryAfterS: 5,
    message: expect.stringMatching(message) as string,
  })

describe('rows', () => {
  test('of one turn of the event loop go into one object', async () => {
    const store = new MemoryStore()
    const { submit, commits } = groupOver(store)
    await Promise.all([submit(1), submit(2), submit(3)])
    expect((await inboxObjects(store, 'forecasts')).map(numbersOf)).toEqual([[1, 2, 3]])
    expect(commits).toEqual([{ rows: 3, durationMs: 1 }])
  })

  test('have receipts that are made while the store writes, and handed out once it has confirmed', async () => {
    const store = new HeldStore()
    const made: string[] = []
    const group = new GroupCommit(
      'forecasts',
      { queueLimit: 10_000, timeoutMs: 10_000 },
      {
        store,
        newId: () => uuidOf(6, 1),
        monotonicMs: () => 0,
        receiptsOf: (rows, id) => {
          made.push(...rows.map(({ forecast_id }) => `${String(forecast_id)} in ${id}`))
          return made
        },
      },
    )
    let acknowledged = false
    const calls = Promise.all([group.submit(rowOf(1), rowOf(2)), group.submit(rowOf(3))])
    void calls.then(() => (acknowledged = true))
    const write = await store.next()
    await new Promise(setImmediate)
    expect(made).toEqual([1, 2, 3].map((number) => `${uuidOf(3, number)} in ${uuidOf(6, 1)}`))
    expect(acknowledged).toBe(false)
    write.release()
    expect(await calls).toEqual([made.slice(0, 2), made.slice(2)])
  })

  test('that arrive during a write go together into the next object, in their order', async () => {
    const store = new HeldStore()
    const { group, submit } = groupOver(store)
    const first = submit(1)
    const write = await store.next()
    const later = [submit(2), submit(3), submit(4)]
    expect(group.queued).toBe(3)
    expect(store.objects.size).toBe(0)
    write.release()
    await first
    ;(await store.next()).release()
    await Promise.all(later)
    expect(group.queued).toBe(0)
    expect((await inboxObjects(store, 'forecasts')).map(numbersOf)).toEqual([[1], [2, 3, 4]])
  })

  test('are not acknowledged before the store has confirmed them', async () => {
    const store = new HeldStore()
    const { submit } = groupOver(store)
    let acknowledged = false
    const row = submit(1).then(() => (acknowledged = true))
    const write = await store.next()
    await new Promise(setImmediate)
    expect(acknowledged).toBe(false)
    write.release()
    await row
  })

  test('are read back as they were submitted', async () => {
    const store = new MemoryStore()
    const { submit } = groupOver(store)
    await submit(123_456)
    expect(await inboxRows(store, 'forecasts')).toEqual([rowOf(123_456)])
  })

  test('of very many callers share a few objects of at most 5,000 rows', async () => {
    const store = new MemoryStore()
    const { submit, commits } = groupOver(store, { queueLimit: 20_000 })
    await Promise.all(Array.from({ length: 12_000 }, (_, number) => submit(number)))
    expect(commits.map(({ rows }) => rows)).toEqual([5000, 5000, 2000])
    expect(numbersOf(await inboxRows(store, 'forecasts'))).toEqual(
      Array.from({ length: 12_000 }, (_, number) => number),
    )
  })
})

describe('a full queue', () => {
  test('refuses at once, and takes rows again when there is room', async () => {
    const store = new HeldStore()
    const { group, submit } = groupOver(store, { queueLimit: 2 })
    const first = submit(1)
    const write = await store.next()
    const queued = [submit(2), submit(3)]
    await expect(submit(4)).rejects.toEqual(
      unavailable(/too many rows are waiting to be written; nothing was recorded/),
    )
    expect(group.queued).toBe(2)
    write.release()
    await first
    const second = await store.next()
    const room = submit(5)
    second.release()
    await Promise.all(queued)
    ;(await store.next()).release()
    await room
    expect(numbersOf(await inboxRows(store, 'forecasts'))).toEqual([1, 2, 3, 5])
  })
})

describe('a store that does not answer', () => {
  test('makes rows unavailable after the timeout, and later rows succeed when it recovers', async () => {
    const { timeOut } = heldTime()
    const store = new HeldStore()
    const { group, submit } = groupOver(store, { timeoutMs: TIMEOUT_MS })
    const first = submit(1)
    await store.next()
    const second = submit(2)
    timeOut()
    await expect(first).rejects.toEqual(unavailable(/did not confirm the write in time; submit again/))
    await store.next()
    timeOut()
    await expect(second).rejects.toEqual(unavailable(/submit again/))
    const third = submit(3)
    ;(await store.next()).release()
    await third
    expect(group.queued).toBe(0)
    expect(numbersOf(await inboxRows(store, 'forecasts'))).toEqual([3])
  })

  test('but writes later has recorded the row twice if it was submitted again', async () => {
    const { timeOut } = heldTime()
    const store = new HeldStore()
    const { submit } = groupOver(store, { timeoutMs: TIMEOUT_MS })
    const first = submit(1)
    const late = await store.next()
    timeOut()
    await expect(first).rejects.toMatchObject({ kind: 'unavailable' })
    const again = submit(1)
    ;(await store.next()).release()
    await again
    late.release()
    await expect.poll(() => store.objects.size).toBe(2)
    const rows = await inboxRows(store, 'forecasts')
    // Both have the same forecast_id, so they count as one forecast.
    expect(rows).toEqual([rowOf(1), rowOf(1)])
  })

  test('and fails after the timeout harms no other row', async () => {
    const { timeOut } = heldTime()
    const store = new HeldStore()
    const { submit } = groupOver(store, { timeoutMs: TIMEOUT_MS })
    const first = submit(1)
    const late = await store.next()
    timeOut()
    await expect(first).rejects.toMatchObject({ kind: 'unavailable' })
    late.fail(new Error('reset by peer'))
    const second = submit(2)
    ;(await store.next()).release()
    await second
  })

  test('is told by a signal to stop', async () => {
    const { timeOut } = heldTime()
    const asked = Promise.withResolvers<AbortSignal | undefined>()
    const store = new MemoryStore()
    store.putIfAbsent = (_path: string, _bytes: Uint8Array, signal?: AbortSignal) => {
      asked.resolve(signal)
      return new Promise(() => undefined)
    }
    const { submit } = groupOver(store, { timeoutMs: TIMEOUT_MS })
    const submitted = submit(1)
    const signal = await asked.promise
    timeOut()
    await expect(submitted).rejects.toMatchObject({ kind: 'unavailable' })
    expect(signal?.aborted).toBe(true)
  })
})

describe('a write that fails', () => {
  test('is an error for each of its rows and for no other', async () => {
    const store = new HeldStore()
    const { submit } = groupOver(store)
    const first = [submit(1), submit(2)]
    const write = await store.next()
    const later = submit(3)
    const cause = new ServiceError('unavailable', 'the store could not write inbox/forecasts/x (ENOSPC)')
    write.fail(cause)
    for (const row of first) await expect(row).rejects.toMatchObject({ kind: 'unavailable', cause })
    ;(await store.next()).release()
    await later
    expect(numbersOf(await inboxRows(store, 'forecasts'))).toEqual([3])
  })

  test('but persisted does not prevent submitting the row again', async () => {
    const inner = new MemoryStore()
    const { submit } = groupOver(new FaultStore(inner, { at: 1, fault: 'failed but persisted' }))
    await expect(submit(1)).rejects.toMatchObject({ kind: 'unavailable' })
    await submit(1)
    expect(await inboxRows(inner, 'forecasts')).toEqual([rowOf(1), rowOf(1)])
  })

  test('because a row cannot be written does not stop the next', async () => {
    const store = new MemoryStore()
    const { group, submit } = groupOver(store)
    const broken = { ...rowOf(1), forecast_at: 'not a time' }
    await expect(group.submit(broken)).rejects.toMatchObject({ kind: 'unavailable' })
    await submit(2)
    expect(numbersOf(await inboxRows(store, 'forecasts'))).toEqual([2])
  })
})

describe('close', () => {
  test('waits for all accepted rows and refuses later ones', async () => {
    const store = new HeldStore()
    const { group, submit } = groupOver(store)
    const rows = [submit(1)]
    const write = await store.next()
    rows.push(submit(2), submit(3))
    let closed = false
    const closing = group.close().then(() => (closed = true))
    await expect(submit(4)).rejects.toEqual(unavailable(/shutting down; nothing was recorded/))
    write.release()
    const last = await store.next()
    await new Promise(setImmediate)
    expect(closed).toBe(false)
    last.release()
    await closing
    await Promise.all(rows)
    expect(numbersOf(await inboxRows(store, 'forecasts'))).toEqual([1, 2, 3])
  })

  test('of a group that is idle resolves at once', async () => {
    const { group, submit } = groupOver(new MemoryStore())
    await group.close()
    await expect(submit(1)).rejects.toMatchObject({ kind: 'unavailable' })
  })

  test('does not wait for a store that never answers', async () => {
    const { timeOut } = heldTime()
    const store = new HeldStore()
    const { group, submit } = groupOver(store, { timeoutMs: TIMEOUT_MS })
    const rows = settled([submit(1), submit(2)])
    const closed = group.close()
    await store.next()
    timeOut()
    await closed
    expect((await rows).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
})

describe('whatever happens', () => {
  type Step = 'submit' | 'turn' | 'release' | 'fail' | 'persist and fail'
  const step = fc.constantFrom<Step>(
    'submit',
    'submit',
    'submit',
    'turn',
    'release',
    'fail',
    'persist and fail',
  )

  test('every acknowledged row is in the store exactly once, and every row has its answer', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60 }),
        fc.integer({ min: 1, max: 8 }),
        async (steps, queueLimit) => {
          const inner = new MemoryStore()
          let persistAndFail = false
          const store = new HeldStore()
          const create = store.putIfAbsent.bind(store)
          store.putIfAbsent = async (path, bytes) => {
            await create(path, bytes)
            await inner.putIfAbsent(path, bytes)
            if (!persistAndFail) return true
            persistAndFail = false
            throw new Error('failed but persisted')
          }
          const { group, submit } = groupOver(store, { queueLimit })
          const answers: Promise<unknown>[] = []
          const turn = () => new Promise(setImmediate)
          for (const what of steps) {
            if (what === 'submit') answers.push(submit(answers.length))
            else if (what === 'turn') await turn()
            else if (store.waiting.length > 0) {
              const write = store.waiting.shift()!
              if (what === 'fail') write.fail(new Error('failed'))
              else {
                persistAndFail = what === 'persist and fail'
                write.release()
              }
              await turn()
            }
            for (const answer of answers) answer.catch(() => undefined)
          }
          const closing = group.close()
          let closed = false
          void closing.then(() => (closed = true))
          for (await turn(); !closed; await turn()) store.waiting.shift()?.release()
          const outcomes = await settled(answers)
          const kept = numbersOf(await inboxRows(inner, 'forecasts'))
          expect(new Set(kept).size).toBe(kept.length)
          for (const [number, { status }] of outcomes.entries()) {
            if (status === 'fulfilled') expect(kept).toContain(number)
          }
        },
      ),
      { numRuns: 200 },
    )
  })
})
