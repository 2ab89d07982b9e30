// Backups of a store in a bucket, on a real server: to another bucket and to a folder, while forecasts come in, and
// back into an empty bucket. The requests of each are counted.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runAudit } from '../../jobs/audit/audit.ts'
import { runBackup, runRestore } from '../../jobs/backup/backup.ts'
import type { Components } from '../../jobs/components/components.ts'
import { FileStore } from '../../pipeline/store/file.ts'
import { bucketStore, freshBucket, s3Server } from '../support/buckets.ts'
import { countingProxy } from '../support/counting-proxy.ts'
import { testFolder } from '../support/folder.ts'
import { Clock, bearer, release, testComponents, testService } from '../support/http/service.ts'
import { fvs } from '../support/process.ts'
import { contentOf } from '../support/store-content.ts'
import { NOW, QUESTION, copyReleasedWorld, forecasterId } from '../support/worlds/world.ts'

const STORE = 'live/'
const MOST_MEANWHILE = 30

interface Forecasts {
  forecasts: { question_id: string; probability: number }[]
}

describe.skipIf(!s3Server)('a store in a bucket', () => {
  test('goes to a bucket and to a folder while forecasts come in, and comes back to serve the same bytes', async () => {
    const [folder, bucket, others] = [await testFolder(), await freshBucket(), await freshBucket()]
    const proxy = await countingProxy(s3Server!.S3_ENDPOINT)
    const clock = new Clock(NOW)
    const over = (prefix: string): Promise<Components> => {
      const [name, store] =
        prefix === STORE ? [bucket, bucketStore(bucket, STORE)] : [others, bucketStore(others, prefix)]
      const settings = { STORE_URL: `s3://${name}/${prefix}`, S3_ENDPOINT: proxy.url, REFRESH_MS: '1000' }
      return testComponents({ store, folder, clock, settings })
    }
    const live = await over(STORE)
    const { agentId, key } = await copyReleasedWorld(live.store)
    const { client } = await testService(live)
    let sent = 0
    const forecast = async () => {
      sent += 1
      clock.set(new Date(Date.parse(NOW) + sent).toISOString())
      const body = { question_id: QUESTION.open, probability: sent / 1e6 }
      const answer = await client.post(`/agents/${agentId}/forecast`, body, bearer(key))
      expect(answer.status, answer.text).toBe(200)
    }
    await forecast()
    expect(await release(live)).toMatchObject({ made: true, release: 2 })
    await expect
      .poll(async () => (await client.get('/releases/current')).json())
      .toMatchObject({ release: 2 })

    for (const [nth, place] of [`s3://${others}/backup`, join(folder, 'backup')].entries()) {
      await forecast()
      const acknowledged = sent
      proxy.take()
      let isDone = false
      const backup = runBackup(live.settings, place, { comparesAll: false }, clock.now()).finally(() => {
        isDone = true
      })
      // Each is an object that the next backup copies.
      while (!isDone && sent < acknowledged + MOST_MEANWHILE) await forecast()
      const report = await backup
      expect(report).toMatchObject({ ok: true })
      expect(sent).toBeGreaterThan(acknowledged)
      console.log(`backup to ${place}`, JSON.stringify(report.json), JSON.stringify(proxy.take()))

      const back = await over(`back-${nth}/`)
      expect(await runRestore(back.settings, place, {})).toMatchObject({ ok: true })
      console.log(`restore from ${place}`, JSON.stringify(proxy.take()))
      expect(await contentOf(back.store, 'releases/')).toEqual(await contentOf(live.store, 'releases/'))
      expect((await runAudit(back, 2)).json).toMatchObject({ ok: true, derived: true, faults: [] })
      const { client: restored } = await testService(back)
      for (const path of [
        `/agents/${agentId}/verification`,
        `/forecaster/${forecasterId(0)}/scores`,
        '/leaderboard/forecaster',
        '/data/releases/current/manifest.json',
        `/view/forecasters/${forecasterId(0)}`,
      ]) {
        const answers = await Promise.all([client, restored].map((one) => one.get(path)))
        expect(
          answers.map(({ status }) => status),
          path,
        ).toEqual([200, 200])
        expect(answers[1]!.bytes.equals(answers[0]!.bytes), path).toBe(true)
      }
      expect((await restored.get('/releases/current')).json()).toMatchObject({ release: 2 })
      // What was acknowledged before the backup began is there.
      const stands = await restored.get(`/agents/${agentId}/forecasts`, bearer(key))
      const { probability } = stands
        .json<Forecasts>()
        .forecasts.find((one) => one.question_id === QUESTION.open)!
      expect(Math.round(probability * 1e6)).toBeGreaterThanOrEqual(acknowledged)
    }

    const again = () => runBackup(live.settings, `s3://${others}/backup`, { comparesAll: false }, clock.now())
    expect(await again()).toMatchObject({ ok: true })
    proxy.take()
    expect(await again()).toMatchObject({ ok: true, json: { environments: { production: { copied: 0 } } } })
    const requests = proxy.take()
    console.log('backup with nothing new', JSON.stringify(requests))
    // It writes the note of each environment.
    expect(requests).toMatchObject({ PUT: 2, DELETE: 0 })
  })

  test('has its backup under other credentials', async () => {
    const folder = await testFolder()
    await copyReleasedWorld(await FileStore.begin(join(folder, 'store')))
    await mkdir(join(folder, '.aws'))
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, ...place } = s3Server!
    await writeFile(
      join(folder, '.aws/credentials'),
      `[backup]\naws_access_key_id = ${AWS_ACCESS_KEY_ID}\naws_secret_access_key = ${AWS_SECRET_ACCESS_KEY}\n`,
    )
    const env = {
      ...place,
      STORE_URL: join(folder, 'store'),
      AWS_ACCESS_KEY_ID: 'nobody',
      AWS_SECRET_ACCESS_KEY: 'knows it',
    }
    const to = `s3://${await freshBucket()}/backup`
    const refused = await fvs(['backup', to], { folder, env })
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('InvalidAccessKeyId') as string,
    })
    const other = ['--s3-profile', 'backup']
    expect(await fvs(['backup', to, ...other], { folder, env })).toMatchObject({ code: 0 })
    const doctor = await fvs(['doctor', '--backup', to, ...other], { folder, env })
    expect(doctor.stdout).toMatch(/^ok   backup /m)
    const back = { ...env, STORE_URL: join(folder, 'back') }
    expect(await fvs(['restore', to, ...other], { folder, env: back })).toMatchObject({ code: 0 })
    const [restored, store] = await Promise.all([back, env].map(({ STORE_URL }) => FileStore.open(STORE_URL)))
    expect(await contentOf(restored!)).toEqual(await contentOf(store!))
  })
})
