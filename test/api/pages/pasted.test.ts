// What somebody pastes to have it checked is told apart: links of any form, ids, codes, records, and all else.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Pasted, pastedIn } from '../../../api/pages/pasted.ts'
import { parseCheckCode } from '../../../pipeline/proof/check-code.ts'

const ID = '01a20012-a424-73ad-bf0a-2c0410e39446'
const CODE = '21-4F9A-2C81-B7D3'
const site = { environment: 'production', publicUrl: 'https://forecasts.example.org' } as const
const code = parseCheckCode(CODE)!
const agent: Pasted = { kind: 'entity', environment: 'production', entityType: 'agent', id: ID }

test.each<[string, Pasted]>([
  [CODE, { kind: 'code', environment: 'production', code }],
  [' 21 4f9a2c81b7d3 ', { kind: 'code', environment: 'production', code }],
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
  [`https://forecasts.example.org/view/check/${CODE}`, { kind: 'code', environment: 'production', code }],
  ['/sandbox/view/check/21%204f9a%202c81%20b7d3', { kind: 'code', environment: 'sandbox', code }],
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
    '/view/check/21',
    `/view/%ff/${ID}`,
    '/view/check/%ff',
  ])('%s says that it leads to nobody', (text) => {
    expect(why(text)).toMatch(/^That link (?:cannot be read|leads to )/)
  })
})

test('no text makes it fail, and none leads out of the service', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl()), (text) => {
      expect(['code', 'id', 'record', 'unknown']).toContain(pastedIn(site, text).kind)
    }),
  )
})
