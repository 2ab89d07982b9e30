// Quotas of a process that counts by itself: the next process continues the counts after SIGTERM and after
// kill -9.
import { beforeAll, describe, expect, test } from 'vitest'
import { FOUND, expectLimited, idOf, quotaIn, storm, withKey } from '../../support/http/counted-calls.ts'
import { suiteFolder } from '../../support/folder.ts'
import { type Node, nodeWorld } from '../../support/http/nodes.ts'
import { testComponents } from '../../support/http/service.ts'
import { copyReleasedWorld } from '../../support/worlds/world.ts'

const folder = await suiteFolder()
beforeAll(async () => {
  await copyReleasedWorld((await testComponents({ folder })).store)
})

const remaining = async ({ client }: Node, key: string) =>
  quotaIn(await client.get(FOUND, withKey(key))).remaining

describe('SIGTERM', () => {
  test('in the middle of 10,000 calls lets each of 50 free keys through exactly 100 times', async () => {
    const { node, newKeys, used } = await nodeWorld(folder, { SHUTDOWN_TIMEOUT_MS: '600000' })
    const keys = await newKeys(50)
    const first = await node()
    let stopped: Promise<void> | undefined
    const before = await storm([first.client], keys, 60, (answered) => {
      if (answered === 2_000) stopped = first.stop()
    })
    await stopped
    const second = await node()
    const after = await storm([second.client], keys, 140)
    expect(after.failed).toBe(0)
    for (const key of keys) expectLimited(await second.client.get(FOUND, withKey(key)), 'monthly-calls')
    const totals = keys.map((key) => (before.through.get(key) ?? 0) + (after.through.get(key) ?? 0))
    expect(totals).toEqual(keys.map(() => 100))
    await second.stop()
    const written = await used()
    expect(keys.map((key) => written.get(idOf(key)))).toEqual(keys.map(() => 100))
    const sum = (...counts: number[]) => counts.reduce((total, count) => total + count, 0)
    console.info(
      `10000 calls with 50 keys on 1 node, restarted: ${sum(...before.through.values())} let through before and ` +
        `${sum(...after.through.values())} after, 100 with each key; ${before.notFound + after.notFound} not found, ` +
        `${before.refused + after.refused} refused, ${before.failed} while it was down`,
    )
  })
})

describe('kill -9', () => {
  test('loses the calls since the last flush, and no others', async () => {
    const { node, newKeys, used } = await nodeWorld(folder, { FREE_MONTHLY_CALLS: '20' })
    const [key] = (await newKeys(1)) as [string]
    const kill = async (each: Node) => {
      each.kill('SIGKILL')
      expect((await each.finished).signal).toBe('SIGKILL')
    }
    const flushing = await node({ USAGE_FLUSH_MS: '50' })
    for (const left of [19, 18, 17, 16, 15]) expect(await remaining(flushing, key)).toBe(left)
    await expect.poll(async () => [...(await used()).values()]).toEqual([5])
    await kill(flushing)

    const silent = await node({ USAGE_FLUSH_MS: '600000' })
    for (const left of [14, 13, 12]) expect(await remaining(silent, key)).toBe(left)
    await kill(silent)

    const last = await node()
    let through = 0
    while ((await last.client.get(FOUND, withKey(key))).status === 200) through += 1
    expect(through).toBe(20 - 5)
    await last.stop()
    expect([...(await used()).values()]).toEqual([20])
  })
})
