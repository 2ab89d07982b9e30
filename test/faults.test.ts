// A small part of the suite of faults (test/faults), the same each time.
// @module-tag slow
import { readFile } from 'node:fs/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { S3Store } from '../pipeline/store/s3.ts'
import { ServiceError } from '../schemas/errors.ts'
import { NO_FINDINGS, StoreCheck } from './support/faults/check-store.ts'
import { testFolder } from './support/folder.ts'
import { expectKept } from './faults/kills.ts'
import { Load } from './support/faults/load.ts'
import { loopbackS3 } from './support/faults/loopback-s3.ts'
import { fill, onDisk } from './support/worlds/places.ts'
import { choicesOf, report } from './support/faults/seeded.ts'
import { importRows, release, testComponents, testService } from './support/http/service.ts'
import { ToxicProxy } from './faults/toxic-proxy.ts'
import { SHORT_TIMES, batchOf, questionsFile } from './support/faults/trouble.ts'

const SEED = 2026

describe('a slice of the faults', () => {
  afterEach(() => void vi.unstubAllEnvs())

  test('kills on disk', async () => {
    await expectKept('kills on disk', await onDisk(), choicesOf(SEED), 4)
  })

  // In this process, because starting others would take most of the time.
  test('a toxic proxy before a store', async () => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, 'test')
    vi.stubEnv('AWS_REGION', 'us-east-1')
    const choices = choicesOf(SEED)
    const server = await loopbackS3()
    const proxy = await ToxicProxy.start(server.endpoint, choices)
    const at = (endpoint: string) => new S3Store({ bucket: 'bucket', prefix: '', endpoint })
    const machine = async () =>
      testComponents({ store: at(proxy.endpoint), settings: { ...SHORT_TIMES, REFRESH_MS: '100' } })
    const store = at(server.endpoint)
    await fill(store)
    const folder = await testFolder()
    await importRows(await machine(), 'questions', await readFile(await questionsFile(folder, 0), 'utf8'))
    const { url } = await testService(await machine())
    const check = new StoreCheck(store, folder)
    const load = new Load(check.promised, choices)
    load.explained = [401, 404]
    for (const share of [0.02, 0.1]) {
      proxy.share = share
      const loading = load.runFor(700, () => [url], batchOf(0))
      for (let attempt = 0; attempt < 2; attempt++) {
        await release(await machine()).catch((error: unknown) => expect(error).toBeInstanceOf(ServiceError))
      }
      await loading
      await proxy.calm()
      expect(await release(await machine())).toMatchObject({ made: true })
      expect(await check.run()).toEqual(NO_FINDINGS)
    }
    report('a toxic proxy in one process', SEED, {
      injected: proxy.total,
      ...proxy.counts,
      requests: proxy.requests,
      ...load.counts,
      ...check.extent,
    })
    expect(load.wrong).toEqual([])
    expect(proxy.total).toBeGreaterThan(0)
    expect(load.counts.acknowledged).toBeGreaterThan(0)
  })
})
