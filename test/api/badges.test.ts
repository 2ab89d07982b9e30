// Badges: those of holders of a certificate carry it, and all others are as without certificates.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startService } from '../../jobs/serve/service.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { Client, Clock, testComponents } from '../support/http/service.ts'
import { suiteFolder } from '../support/folder.ts'
import { HOLDERS } from '../support/worlds/certified-world.ts'
import { credentialWorld } from '../support/worlds/credential-world.ts'
import { START } from '../support/worlds/sandbox.ts'

const folder = await suiteFolder()
const clock = new Clock(START)
let client: Client
let stop: () => Promise<void>
let others: string[]

beforeAll(async () => {
  const sandbox = await credentialWorld(new MemoryStore(), folder, clock)
  const production = await testComponents({ store: new MemoryStore(), folder, clock })
  const service = await startService({ production, sandbox }, { scheduler: false, firstCallsMs: 0 })
  await service.loaded
  client = new Client(`${service.url}/sandbox`)
  stop = () => service.stop()
  const { entries } = (await client.get('/leaderboard/forecaster')).json<{ entries: { user_id: string }[] }>()
  others = entries.map(({ user_id }) => user_id).filter((id) => !HOLDERS.some((holder) => holder === id))
})
afterAll(() => stop())

const KEPT = 'public, max-age=3600, stale-while-revalidate=86400'

describe('of a holder', () => {
  const path = `/forecaster/${HOLDERS[0]}`

  test('the badge holds the credential, byte for byte', async () => {
    const credential = await client.get(`${path}/credential`)
    expect(credential.json()).toMatchObject({ name: 'Certified forecaster in the sandbox' })
    const svg = await client.get(`${path}/badge.svg`)
    expect(svg.text).toContain(`<![CDATA[${credential.text}]]>`)
    expect(svg.text.match(/<openbadges:credential>/g)).toHaveLength(1)
    expect(svg.headers).toMatchObject({
      'content-type': 'image/svg+xml; charset=utf-8',
      'cache-control': KEPT,
      'cross-origin-resource-policy': 'cross-origin',
    })
  })

  test('every answer is the same, and one that is known is not sent again', async () => {
    const badge = `${path}/badge.svg`
    const [one, two, three] = [await client.get(badge), await client.get(badge), await client.get(badge)]
    expect(two.bytes.equals(one.bytes) && three.bytes.equals(one.bytes)).toBe(true)
    const again = await client.get(badge, { 'If-None-Match': one.headers.etag! })
    expect([again.status, again.text]).toEqual([304, ''])
    expect((await client.send('HEAD', badge)).headers.etag).toBe(one.headers.etag)
  })
})

test('the page of a holder links the badge to save, and that of anyone else has no certificate', async () => {
  for (const [id, count] of [
    [HOLDERS[0], 1],
    [others[0]!, 0],
  ] as const) {
    const { text } = await client.get(`/view/forecasters/${id}`)
    expect(text.split(`download="${id}.svg"`)).toHaveLength(count + 1)
    expect(text.split('EducationalOccupationalCredential')).toHaveLength(count + 1)
  }
})

describe('of everyone else', () => {
  test('the badge has no credential', async () => {
    expect(others.length).toBeGreaterThan(3)
    for (const id of others) {
      const svg = await client.get(`/forecaster/${id}/badge.svg`)
      expect([svg.status, svg.headers['cache-control']]).toEqual([200, KEPT])
      expect(svg.text).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width/)
      expect(svg.text).not.toContain('openbadges')
    }
  })

  test('one who is in no release has a badge that says so', async () => {
    const id = '00000000-0000-4000-8009-000000000009'
    expect((await client.get(`/forecaster/${id}/badge.svg`)).text).toContain('unknown forecaster')
  })
})
