// The search of the pages: whom and what it finds, where it leads straight, and what it makes of odd input.
import { describe, expect } from 'vitest'
import { assignAgents, hideAgent } from '../../jobs/agents/agents.ts'
import { test } from '../support/http/fixtures.ts'
import { type TestService, importRows, registerAgent, release } from '../support/http/service.ts'
import { submitForecasts } from '../support/worlds/submitted-forecasts.ts'
import { QUESTION, openForecastLine, uuidOf } from '../support/worlds/world.ts'

const OWNER = 'Anna & Söhne/2'
const person = (index: number) => uuidOf(7, index)
/** More than a list of one kind shows, and more than one page of all. */
const CROWD = 130

let service: TestService
let agents: { annex: string; hidden: string; idle: string }

test.beforeAll(async ({ components, world, store, serve }) => {
  void world
  service = await serve(components)
  const register = async (name: string) => (await registerAgent(service.client, name)).agentId
  agents = {
    annex: await register('Annex'),
    hidden: await register('Annoying'),
    idle: await register('Idle one'),
  }
  await assignAgents(components, [agents.annex], { owner: OWNER })
  await submitForecasts(store, [openForecastLine(agents.annex), openForecastLine(agents.hidden)])
  await hideAgent(components, agents.hidden, { reason: 'to try it' })
  const named = ['Joanna', 'Anna Bee', 'ANNA', 'Ünique', '<b>bold</b>']
  const people = [...named, ...Array.from({ length: CROWD }, (_, index) => `Crowd ${index}`)]
  const lines = people.map((name, index) => `${person(index)},${name}`)
  await importRows(components, 'forecasters', ['user_id,display_name', ...lines, ''].join('\n'))
  await release(components)
  await service.stop()
  service = await serve(components)
})

const search = (q: string, more = '', mount = '') =>
  service.client.get(`${mount}/view/search?q=${encodeURIComponent(q)}${more}`)

async function linksOf(q: string, more = ''): Promise<string[]> {
  const { status, text } = await search(q, more)
  expect(status, q).toBe(200)
  const main = text.slice(text.indexOf('<main'), text.indexOf('</main>'))
  return Array.from(main.matchAll(/<li><a href="([^"]+)"/g), ([, path]) => path!)
}

async function leadsTo(q: string, mount = ''): Promise<string | undefined> {
  const { status, headers } = await search(q, '', mount)
  return status === 303 ? String(headers['location']) : undefined
}

type Path = () => string | undefined
const profile = (index: number) => `/view/forecasters/${person(index)}`

describe('a search', () => {
  test('finds people, agents and owners, the exact name first and no hidden agent', async () => {
    expect(await linksOf('anna')).toEqual([
      profile(2),
      profile(1),
      profile(0),
      `/view/owners/${encodeURIComponent(OWNER)}`,
    ])
    expect(await linksOf('ann')).toContain(`/view/agents/${agents.annex}`)
    expect(await linksOf('ann')).not.toContain(`/view/agents/${agents.hidden}`)
  })

  test('shows ten of each kind, and all on further pages', async () => {
    expect(await linksOf('crowd')).toHaveLength(10)
    expect((await search('crowd')).text).toContain(
      '<a href="/view/search?q=crowd&amp;in=people">All 130 forecasters</a>',
    )
    const pages = [await linksOf('crowd', '&in=people'), await linksOf('crowd', '&in=people&page=2')]
    expect(pages.map(({ length }) => length)).toEqual([100, CROWD - 100])
    expect(new Set(pages.flat()).size).toBe(CROWD)
    expect((await search('crowd', '&in=people&page=3')).status).toBe(404)
    expect(await linksOf('son', '&in=owners')).toEqual([])
    expect(await linksOf('SOHNE', '&in=owners')).toHaveLength(1)
  })

  test('finds questions by whole words', async () => {
    const found = await linksOf('question')
    expect(found).toHaveLength(10)
    expect(found[0]).toMatch(/^\/view\/questions\//)
    expect((await search('question')).text).toContain('href="/view/questions?q=question"')
  })

  test.for<[q: string, to: Path]>([
    ['unique', () => profile(3)],
    ['crowd 129', () => profile(5 + 129)],
    [person(2).toUpperCase(), () => profile(2)],
    [QUESTION.open, () => `/view/questions/${QUESTION.open}`],
    [`https://example.org/forecaster/${person(1)}/scores?limit=3`, () => profile(1)],
    [`/view/owners/${encodeURIComponent(OWNER)}`, () => `/view/owners/${encodeURIComponent(OWNER)}`],
    ['Idle one', () => undefined],
  ])('%s leads straight to where it is, if there is one', async ([q, to]) => {
    expect(await leadsTo(q)).toBe(to())
  })

  test('an id leads to an agent that no release has yet, and never to a hidden one', async () => {
    expect(await leadsTo(agents.idle)).toBe(`/view/agents/${agents.idle}`)
    expect(await leadsTo(agents.hidden)).toBeUndefined()
    expect((await search(agents.hidden)).text).toContain('Nothing is called that')
    expect(await leadsTo(`/view/forecasters/${agents.annex}`)).toBeUndefined()
  })

  test('leads from one environment to the other', async () => {
    const address = `https://example.org/sandbox/view/agents/${agents.annex}`
    expect(await leadsTo(address)).toBe(`/sandbox/view/agents/${agents.annex}`)
    expect(await leadsTo(`https://example.org/agents/${agents.annex}`, '/sandbox')).toBe(
      `/view/agents/${agents.annex}`,
    )
  })

  test('without text says what may be sought', async () => {
    for (const query of ['', '?q=', '?q=%20', '?q=%E2%80%8B']) {
      const { status, text } = await service.client.get(`/view/search${query}`)
      expect([query, status]).toEqual([query, 200])
      expect(text).toContain('Write into the field above')
    }
  })

  test.for([
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    '\u202egnp.exe',
    '\0\n\u0007',
    'x'.repeat(2000),
    '.*'.repeat(500),
    '%',
    '\ud800',
    'w '.repeat(300),
    '%'.repeat(300) + '/owners/%',
  ])('shows %j as text, or nothing', async (q) => {
    const { status, text } = await search(q.toWellFormed())
    expect(status).toBe(200)
    expect(text).not.toMatch(/<script>|<img|(?!\n)[\p{Cc}\u202e]/u)
  })

  test('refuses what is longer than any address, and a page of no list', async () => {
    expect((await search('x'.repeat(2001))).status).toBe(422)
    expect((await search('x', '&page=2')).status).toBe(422)
    expect((await search('x', '&in=everything')).status).toBe(422)
  })
})

test('counts as the look-ups do: four calls for all kinds, ten for one list, one for an address', async () => {
  const left = async (path: string) => {
    const { headers } = await service.client.get(path)
    return Number(/r=(\d+)/.exec(String(headers['ratelimit']))![1])
  }
  const before = await left('/view/search')
  expect(await left('/view/search?q=anna')).toBe(before - 4)
  expect(await left('/view/search?q=crowd&in=people')).toBe(before - 14)
  expect(await left(`/view/search?q=${person(1)}`)).toBe(before - 15)
})

test.for(['agents', 'forecasters'])(
  'a name in place of an id of %s leads to the search for it',
  async (kind) => {
    const { status, headers } = await service.client.get(`/view/${kind}/${encodeURIComponent('my bot/é')}`)
    expect([status, headers['location']]).toEqual([303, '/view/search?q=my+bot%2F%C3%A9'])
    expect((await service.client.get(`/view/${kind}/${encodeURIComponent('\u202ex')}`)).status).toBe(422)
  },
)

test('every page has the field, which leads into its own environment', async () => {
  for (const mount of ['', '/sandbox']) {
    const { text } = await service.client.get(`${mount}/view/methodology`)
    expect(text).toContain(`<form class="seek" method="get" action="${mount}/view/search" role="search"`)
  }
  expect((await search('crowd')).text).toContain('name="q" value="crowd"')
})
