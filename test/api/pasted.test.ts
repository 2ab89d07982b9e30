// What somebody pastes to have it checked is told apart: links of any form, ids, names, records, and all else.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Pasted, pastedIn } from '../../api/routes/pasted-path.ts'

const ID = '01a20012-a424-73ad-bf0a-2c0410e39446'
const site = { environment: 'production', publicUrl: 'https://forecasts.example.org' } as const
const agent: Pasted = { kind: 'entity', environment: 'production', entityType: 'agent', id: ID }

test.each<[string, Pasted]>([
  [' crow ', { kind: 'name' }],
  [ID.toUpperCase(), { kind: 'id', id: ID }],
  [`https://forecasts.example.org/view/agents/${ID}`, agent],
  [`forecasts.example.org/view/agents/${ID}#check`, agent],
  [`/view/agents/${ID}/questions?page=2`, agent],
  [`https://forecasts.example.org/agents/${ID}/badge.svg`, agent],
  [`https://forecasts.example.org/agents/${ID}/credential#21`, agent],
  [
    `http://forecasts.example.org/sandbox/forecaster/${ID}/card.png`,
    { kind: 'entity', environment: 'sandbox', entityType: 'forecaster', id: ID },
  ],
  [
    `https://forecasts.example.org/view/questions/${ID}`,
    { kind: 'question', environment: 'production', id: ID },
  ],
  [
    `https://forecasts.example.org/view/owners/${encodeURIComponent('a/b?c#d é %')}`,
    { kind: 'owner', environment: 'production', id: 'a/b?c#d é %' },
  ],
  ['{"agent_id":', { kind: 'record' }],
  [' <svg', { kind: 'record' }],
])('%s', (text, pasted) => {
  const made =
    pasted.kind === 'record' || !text.startsWith('http://') ? text : text.replace('http:', 'https:')
  expect(pastedIn(site, made)).toEqual(pasted)
})

describe('a link', () => {
  const why = (text: string, of: Parameters<typeof pastedIn>[0] = site) =>
    (pastedIn(of, text) as { why: string }).why

  test('to elsewhere says to where, and is not followed', () => {
    expect(why(`https://evil.example/view/agents/${ID}`)).toMatch(
      /^That link leads to evil\.example, and this service is /,
    )
    expect(why(`https://forecasts.example.org@evil.example/view/agents/${ID}`)).toContain('evil.example')
    expect(why(`//evil.example/view/agents/${ID}`)).toContain('evil.example')
  })

  test('of any host is one of this service where that does not know its address', () => {
    const unknown = { environment: 'production', publicUrl: undefined } as const
    expect(pastedIn(unknown, `http://127.0.0.1:3000/view/agents/${ID}`)).toEqual(agent)
  })

  test('below the folder of the service is found', () => {
    const folder = { ...site, publicUrl: 'https://example.org/fvs' }
    expect(pastedIn(folder, `https://example.org/fvs/view/agents/${ID}`)).toEqual(agent)
  })

  test.each([
    'https://',
    'https:///',
    '/',
    'a/b',
    '/view/agents/nobody',
    `/view/%ff/${ID}`,
    '/view/agents/%ff',
  ])('%s says that it leads to nobody', (text) => {
    expect(why(text)).toMatch(/^That link (?:cannot be read|leads to )/)
  })
})

test('a text that is too long for a name says what is wanted', () => {
  expect(pastedIn(site, 'x'.repeat(2_001))).toMatchObject({
    kind: 'unknown',
    why: expect.stringContaining('too long for a name'),
  })
})

test('no text makes it fail, and none leads out of the service', { tags: ['slow'] }, () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl()), (text) => {
      expect(['id', 'name', 'record', 'unknown']).toContain(pastedIn(site, text).kind)
    }),
  )
})
