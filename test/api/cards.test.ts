// The calls of cards: kept and shown everywhere, and never missing for an id.
import { expect } from 'vitest'
import { testWith } from '../support/http/fixtures.ts'
import { type TestService } from '../support/http/service.ts'
import { pixelsOf } from '../support/png.ts'
import { forecasterId, uuidOf } from '../support/worlds/world.ts'

let service: TestService
let agentId: string

const test = testWith({ PUBLIC_URL: 'https://forecasts.example.org' })
test.beforeAll(({ world, service: given }) => {
  ;({ agentId } = world)
  service = given
})

const ANYWHERE = { 'cross-origin-resource-policy': 'cross-origin' }

test('are the same each time, kept for an hour, and not sent again to those who have them', async () => {
  for (const path of [`/agents/${agentId}/card`, `/forecaster/${forecasterId(0)}/card`]) {
    for (const [ending, type] of [
      ['svg', 'image/svg+xml; charset=utf-8'],
      ['png', 'image/png'],
    ] as const) {
      const one = await service.client.get(`${path}.${ending}`)
      expect(one.status).toBe(200)
      expect(one.headers).toMatchObject({
        'content-type': type,
        'cache-control': 'public, max-age=3600',
        ...ANYWHERE,
      })
      const two = await service.client.get(`${path}.${ending}`)
      expect(two.bytes.equals(one.bytes)).toBe(true)
      const again = await service.client.get(`${path}.${ending}`, { 'If-None-Match': one.headers.etag! })
      expect(again.status).toBe(304)
    }
  }
})

test('are there for every id, with the same card for all that nobody knows', async () => {
  const of = (index: number, ending: string) =>
    service.client.get(`/agents/${uuidOf(9, index)}/card.${ending}`)
  for (const ending of ['svg', 'png']) {
    const [one, two] = [await of(1, ending), await of(2, ending)]
    expect([one.status, one.headers['cache-control']]).toEqual([200, 'public, max-age=60'])
    expect(one.headers).toMatchObject(ANYWHERE)
    expect(two.bytes.equals(one.bytes)).toBe(true)
  }
  expect((await of(1, 'svg')).text).toContain('Unknown agent')
  expect(pixelsOf((await of(1, 'png')).bytes)).toMatchObject({ width: 1200, height: 630 })
  expect((await service.client.get('/agents/x/card.png')).status).toBe(422)
})

test('are in the preview of profiles, with the address of the page', async () => {
  const { text } = await service.client.get(`/view/agents/${agentId}`)
  expect(text).toContain(
    `<meta property="og:image" content="https://forecasts.example.org/agents/${agentId}/card.png">`,
  )
  expect(text).toContain('<meta name="twitter:card" content="summary_large_image">')
  const svg = (await service.client.get(`/agents/${agentId}/card.svg`)).text
  expect(svg).toContain(`>forecasts.example.org/view/agents/${agentId}</text>`)
})
