// `fvs monitor` holds forecasts that were settled since its last look to the log, and says what it did not.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runMonitor } from '../../../jobs/monitor/monitor.ts'
import { type News, isInconsistency } from '../../../jobs/monitor/monitor-news.ts'
import type { MemoryStore } from '../../../pipeline/store/memory.ts'
import { LogReader } from '../../../pipeline/transparency/log-reader.ts'
import { suiteFolder, testFolder } from '../../support/folder.ts'
import { testComponents, testService } from '../../support/http/service.ts'
import { listening } from '../../support/loopback-witness.ts'
import { copyOf } from '../../support/store-content.ts'
import {
  type BegunWorld,
  SECOND,
  begunWorld,
  idAt,
  settledStore,
} from '../../support/worlds/settled-world.ts'
import { LOG_KEY, LOG_VKEY, writeLog } from '../../support/worlds/written-log.ts'

const folder = await suiteFolder()
let world: BegunWorld
beforeAll(async () => {
  world = await begunWorld(folder)
})

async function serving(store: MemoryStore, releases: number, PUBLIC_DATA = 'tables') {
  await writeLog(store, releases)
  const components = await testComponents({ store, folder, settings: { PUBLIC_DATA } })
  return testService({ ...components, signers: [LOG_KEY] })
}

/** A monitor that has looked at two releases. */
async function monitor() {
  const options = { state: join(await testFolder(), 'state.json'), entity: [`agent:${world.agentId}`] }
  const look = async ({ url }: { url: string }) => {
    const { exitCode, text, json } = await runMonitor(new LogReader(url, [LOG_VKEY]), options)
    const { times, news } = json as { times: string[]; news: News[] }
    // The question was closed early, which is a correction.
    return { exitCode, text, times, inconsistent: news.filter(isInconsistency) }
  }
  const first = await look(await serving(copyOf(world.store), 2))
  expect(first).toMatchObject({ exitCode: 0, times: [] })
  return { look, kept: () => readFile(options.state, 'utf8') }
}

describe('a monitor that looks again once a question is settled', () => {
  test('checks its forecasts, and says how many', { tags: ['slow'] }, async () => {
    const { look } = await monitor()
    const later = '2026-03-02T20:00:00.000Z'
    const { exitCode, times, text } = await look(
      await serving(await settledStore(world, [{ at: later, id: idAt(later) }]), 3),
    )
    expect([exitCode, times]).toEqual([3, [expect.stringContaining('all 2 forecasts')]])
    expect(text).toContain(times[0]!)
  })

  test('finds a backdated one, keeps its file, and prints the proof', { tags: ['slow'] }, async () => {
    const { look, kept } = await monitor()
    const before = await kept()
    const told = '2026-03-02T11:30:00.000Z'
    const id = idAt('2026-03-02T23:30:00.000Z')
    const service = await serving(await settledStore(world, [{ at: told, id }]), 3)
    const { exitCode, inconsistent } = await look(service)
    expect(exitCode).toBe(1)
    expect(inconsistent).toEqual([
      {
        type: 'inconsistent',
        entity: null,
        detail: `the forecast ${id} is backdated: it says ${told}, and release 2 of ${SECOND} does not have it; expected 2026-03-02T11:50:00.000Z or later`,
        kept: { checkpoint: expect.any(String) as string },
        found: {
          record: expect.stringContaining(id) as string,
          proof: (await service.client.get(`/forecasts/${id}/proof`)).text,
        },
      },
    ])
    expect(await kept()).toBe(before)
  })

  test('says that it could not check them where forecasts are not public', { tags: ['slow'] }, async () => {
    const { look } = await monitor()
    const service = await serving(await settledStore(world, []), 3, 'releases')
    const { exitCode, times } = await look(service)
    expect([exitCode, times]).toEqual([
      3,
      [
        expect.stringMatching(
          /^whether newly settled forecasts are backdated was not checked, since .* is not public$/,
        ),
      ],
    ])
  })

  test('takes another file than was logged for an inconsistency', { tags: ['slow'] }, async () => {
    const { look } = await monitor()
    const { client } = await serving(await settledStore(world, []), 3)
    const url = await listening((request, response) => {
      void (async () => {
        const { status, bytes } = await client.get(request.url!)
        const isChanged = request.url!.includes('/public/forecasts/')
        response.writeHead(status).end(isChanged ? bytes.with(40, bytes[40]! ^ 1) : bytes)
      })()
    })
    const { exitCode, inconsistent } = await look({ url })
    expect(exitCode).toBe(1)
    expect(inconsistent[0]!.detail).toMatch(/public\/forecasts\/.* is not the file that was logged$/)
  })
})
