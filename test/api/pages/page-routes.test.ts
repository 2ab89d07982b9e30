// Pages over HTTP: their headers, what they cost, and what a browser gets where something is wrong.
import { describe, expect } from 'vitest'
import { bundledForReaders } from '../../../api/pages/bundle.ts'
import { sha256Hex } from '../../../pipeline/proof/canonical.ts'
import { textOf } from '../../support/fenced-blocks.ts'
import { testWith } from '../../support/http/fixtures.ts'
import { type Answer, type TestService, registerAgent, testService } from '../../support/http/service.ts'
import { QUESTION, forecasterId, uuidOf } from '../../support/worlds/world.ts'

const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
const NOBODY = uuidOf(9, 9)

let service: TestService
let agentId: string
const test = testWith({
  PUBLIC_URL: 'https://forecasts.example.org/',
  ANONYMOUS_PER_MINUTE: '1',
})
test.beforeAll(({ world, service: given }) => {
  ;({ agentId } = world)
  service = given
})

/** Returns the problem of an answer in JSON. */
function expectProblemIn(answer: Answer, status: number): { detail: string } {
  expect(answer.status).toBe(status)
  expect(answer.headers['content-type']).toBe('application/problem+json')
  return answer.json()
}

const PAGES = [
  '/',
  '/view/agents',
  '/view/forecasters',
  '/view/questions',
  `/view/questions/${QUESTION.open}`,
  '/view/methodology',
  '/view/how',
  '/view/terms',
  '/view/verify',
  '/operator',
]

test.for(PAGES)(
  '%s is a page that may be kept for a minute and loads nothing from elsewhere',
  async (path) => {
    for (const mount of ['', '/sandbox']) {
      if (mount !== '' && path.includes(QUESTION.open)) continue
      const { status, headers, text } = await service.client.get(mount + path)
      expect(status).toBe(200)
      expect(headers['content-type']).toBe('text/html; charset=utf-8')
      expect(headers['cache-control']).toBe('public, max-age=60')
      expect(headers.etag).toMatch(/^"[0-9a-f]{64}"$/)
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      )
      expect(text).toContain(`<link rel="canonical" href="https://forecasts.example.org${mount}${path}">`)
      const loaded = [
        ...text.matchAll(/<(?:script|link rel="(?:stylesheet|icon)"|img)[^>]* (?:src|href)="([^"]*)"/g),
      ]
      for (const [, address] of loaded) expect(address).toMatch(/^(\/sandbox)?\/assets\//)
      expect(text).not.toMatch(/ style="| on\w+="/)
    }
  },
)

test('JSON keeps the stricter policy of the API', async () => {
  const { headers } = await service.client.get('/questions')
  expect(headers['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'")
})

test('what pages load may be kept for ever, under an address that changes with it', async () => {
  const { text } = await service.client.get('/view/verify')
  const assets = [...new Set(Array.from(text.matchAll(/"(\/assets\/[^"]+)"/g), ([, path]) => path!))]
  expect(new Set(assets.map((path) => path.split('/').at(-1)))).toEqual(
    new Set(['icon.svg', 'style.css', 'proof.js', 'verify.js', 'verify.py']),
  )
  for (const path of assets) {
    const { status, headers } = await service.client.get(path)
    expect(status).toBe(200)
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
  }
})

const builtVerifier = async () =>
  Buffer.from(await bundledForReaders(new URL('../../../examples/verify.ts', import.meta.url))).toString()

test('pages tell to run the verifier that the service serves, with its hash, and nothing of a registry', async () => {
  // Their readers may be in another folder than the repository, where npx would fetch the package.
  expect(textOf('docs/verifying.md')).not.toMatch(/npx (?!--no-install )/)
  expect((await service.client.get(`/view/agents/${agentId}`)).text).not.toMatch(/\b(npx|npm|pip|uvx) /)
  for (const mount of ['', '/sandbox']) {
    const { text } = await service.client.get(`${mount}/view/verify`)
    expect(text).not.toMatch(/\b(npx|npm|pip|uvx) /)
    const taken =
      /curl -s -o (\S+) &quot;https:\/\/forecasts\.example\.org(\S+)&quot;\necho &#39;(\w{64}) {2}\1&#39;/g
    const found = [...text.matchAll(taken)] as unknown as [string, string, string, string][]
    expect(found.map(([, file]) => file)).toEqual(['verify.py', 'verify.js'])
    for (const [, file, address, hash] of found) {
      const { status, bytes } = await service.client.get(address)
      expect(status, address).toBe(200)
      expect(sha256Hex(bytes)).toBe(hash)
      const own = file === 'verify.py' ? textOf('examples/verify.py') : await builtVerifier()
      expect(bytes.toString()).toBe(own)
    }
  }
})

test('pages cost nothing of the quota of verifications', async () => {
  for (let call = 0; call < 5; call++) expect((await service.client.get('/view/agents')).status).toBe(200)
  const path = `/forecaster/${forecasterId(0)}/verification`
  expect((await service.client.get(path)).status).toBe(200)
  expect((await service.client.get(path)).status).toBe(429)
})

describe('what is wrong', () => {
  const cases: [what: string, status: number, path: string][] = [
    ['an unknown path', 404, '/view/<b>'],
    ['a page that there is not', 404, '/view/agents?page=2'],
    ['a question that there is not', 404, `/view/questions/${NOBODY}`],
    ['an agent that there is not, of the API', 404, `/agents/${NOBODY}`],
    ['a wrong id', 422, '/view/questions/<b>'],
    ['a wrong page', 422, '/view/agents?page=0'],
    ['a wrong status', 422, '/view/questions?status=<b>'],
    [
      'too many words',
      422,
      `/view/questions?q=${Array.from({ length: 21 }, (_, word) => `w${word}`).join('+')}`,
    ],
    ['an unknown parameter', 422, '/?<script>=1'],
  ]

  test.for(cases)('%s is a page with the same detail to a browser', async ([, status, path]) => {
    const ask = (headers?: Record<string, string>): Promise<Answer> =>
      service.client.get(encodeURI(path), headers)
    const asked = await ask()
    const { detail } = expectProblemIn(asked, status)
    const { text, headers, ...shown } = await ask(BROWSER)
    expect(shown.status).toBe(status)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['cache-control']).toBe('no-store')
    expect(text).toContain(
      detail
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('"', '&quot;')
        .replaceAll("'", '&#39;'),
    )
    expect(text).not.toMatch(/<b>|<script>/)
    expect(text).toContain('<a href="/">start</a>')
    const head = await service.client.send('HEAD', encodeURI(path), { headers: BROWSER })
    expect(head.headers['content-type']).toBe('text/html; charset=utf-8')
  })

  test('in the sandbox it leads back into the sandbox', async () => {
    const { text } = await service.client.get('/sandbox/nothing', BROWSER)
    expect(text).toContain('<a href="/sandbox/">start</a>')
  })

  test('a program that takes anything gets JSON, and so does every POST', async () => {
    expectProblemIn(await service.client.get('/nothing', { Accept: '*/*' }), 404)
    expectProblemIn(
      await service.client.get('/nothing', { Accept: 'application/json, text/html;q=0.9' }),
      404,
    )
    expectProblemIn(await service.client.post('/agents/register', {}, BROWSER), 422)
  })
})

describe('GET /view/questions', () => {
  test('filters by what its form sends, and leads from page to page with the same filters', async () => {
    const { text } = await service.client.get('/view/questions?status=resolved&category=&q=')
    expect(text).toContain('<a href="/view/questions?status=resolved" aria-current="true">resolved (')
    expect(text).toContain('<input type="hidden" name="status" value="resolved">')
    const [, next] = /<a href="([^"]*cursor[^"]*)">Next page/.exec(text)!
    expect(next).toContain('status=resolved')
    const second = await service.client.get(next!.replaceAll('&amp;', '&'))
    expect(second.text).toContain('← First page')
    expect(second.text).not.toContain('Next page')
    const found = await service.client.get('/view/questions?q=annulled')
    expect(found.text.match(/<tr>/g)).toHaveLength(2)
    expect(found.text).toContain('value="annulled"')
  })

  test('says how many are overdue and since when, of all and of a category', async () => {
    const all = await service.client.get('/view/questions')
    expect(all.text).toMatch(
      /As of release 1: \d open, \d overdue, the oldest since <time [^>]*>2026-\d\d-\d\d<\/time>, 1 annulled, 0 with an/,
    )
    expect(all.text).toContain('<a href="/view/questions?category=simulated">')
    const one = await service.client.get('/view/questions?category=simulated')
    expect(one.text).toContain('As of release 1: 0 open, 0 overdue, 1 annulled, 0 with an')
    expect(one.text).not.toContain('By category')
  })

  test('says what there is none of, and leads to all', async () => {
    const none = await service.client.get('/view/questions?q=zebra')
    expect(none.text).toContain('<p>No question fits. <a href="/view/questions">All questions</a></p>')
    const open = await service.client.get('/sandbox/view/questions?status=open')
    expect(open.text).toContain(
      '<p>No question is open. <a href="/sandbox/view/questions">All questions</a></p>',
    )
    const all = await service.client.get('/sandbox/view/questions')
    expect(all.text).toContain('<p>There are no questions yet.</p>')
  })
})

describe('badges', () => {
  const cases: [state: string, path: string | undefined, seconds: number, message: RegExp][] = [
    ['ranked', `/forecaster/${forecasterId(0)}`, 3600, /^\w+, imported [+−]\d\.\d\d \[/],
    ['unknown', `/agents/${NOBODY}`, 60, /^unknown agent$/],
    ['registered since the release', undefined, 60, /^in the next release$/],
  ]

  test.for(cases)('of an entity that is %s', async ([, known, seconds, message]) => {
    const { client } = service
    const path = known ?? `/agents/${(await registerAgent(client)).agentId}`
    const json = await client.get(`${path}/badge.json`)
    expect(json.json()).toEqual({
      schemaVersion: 1,
      label: 'forecasts',
      message: expect.stringMatching(message) as string,
      color: expect.stringMatching(/^#/) as string,
    })
    const picture = await client.get(`${path}/badge.svg`)
    expect(picture.headers['content-type']).toBe('image/svg+xml; charset=utf-8')
    expect(picture.headers['cache-control']).toMatch(new RegExp(`^public, max-age=${seconds}\\b`))
    expect(picture.headers['cross-origin-resource-policy']).toBe('cross-origin')
    expect(picture.headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'unsafe-inline'/,
    )
    expect(picture.text).toContain(json.json<{ message: string }>().message)
  })

  test('of the sandbox say so', async () => {
    const { text } = await service.client.get(`/sandbox/agents/${NOBODY}/badge.json`)
    expect(text).toContain('"label":"forecasts (sandbox)"')
  })
})

describe('for search engines', () => {
  test('the map names the pages and the ranked, with whole addresses', async () => {
    const { text } = await service.client.get('/sitemap.xml')
    const named = Array.from(text.matchAll(/<loc>([^<]*)<\/loc>/g), ([, address]) => address)
    expect(named).toContain('https://forecasts.example.org/view/agents')
    expect(named).toContain(`https://forecasts.example.org/view/agents/${agentId}`)
    expect(named).toHaveLength(7 + 9)
    expect((await service.client.get('/sandbox/sitemap.xml')).text).not.toContain('<loc>')
    expect((await service.client.get('/robots.txt')).text).toContain(
      'Sitemap: https://forecasts.example.org/sitemap.xml\n',
    )
  })

  test('a service that does not know its address names none', async () => {
    const { client } = await testService()
    expect((await client.get('/sitemap.xml')).text).not.toContain('<loc>')
    expect((await client.get('/robots.txt')).text).toBe('User-agent: *\nAllow: /\n')
  })
})
