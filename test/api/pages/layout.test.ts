// The frame of pages: what search engines and previews are told, and where links lead in each environment.
import { describe, expect, test } from 'vitest'
import { html } from '../../../api/pages/html.ts'
import { type Page, page } from '../../../api/pages/layout.ts'
import type { About } from '../../../api/about.ts'

const PRODUCTION = { environment: 'production', publicUrl: undefined } as const
const SANDBOX = { environment: 'sandbox', publicUrl: 'https://example.org/fvs' } as const

function made(over: Partial<Page>): string {
  return page({
    site: PRODUCTION,
    title: 'Agents',
    description: 'All agents in order of rank.',
    path: '/view/agents?page=2',
    intro: 'Programs forecast.',
    content: html`<p>content</p>`,
    ...over,
  }).text
}

test('a page has one h1, a language, landmarks and a way to skip to its content', () => {
  const text = made({})
  expect(text.match(/<h1>/g)).toHaveLength(1)
  expect(text).toContain('<html lang="en">')
  for (const tag of ['<header', '<nav', '<main id="main"', '<footer', '<a class="skip" href="#main"']) {
    expect(text).toContain(tag)
  }
})

test('the link to the page itself is marked, whatever its query is', () => {
  expect(made({})).toContain('<a href="/view/agents" aria-current="page">')
  expect(made({}).match(/aria-current/g)).toHaveLength(1)
})

test('without PUBLIC_URL nothing claims to know the address of the service', () => {
  expect(made({})).not.toMatch(/canonical|og:/)
  expect(made({})).toContain('<p class="address">/view/agents?page=2</p>')
})

test('with PUBLIC_URL the page names its whole address to search engines, to previews and on paper', () => {
  const address = 'https://example.org/fvs/sandbox/view/agents?page=2'
  const text = made({ site: SANDBOX })
  expect(text).toContain(`<link rel="canonical" href="${address}">`)
  expect(text).toContain(`<meta property="og:url" content="${address}">`)
  expect(text).toContain(`<p class="address">${address}</p>`)
})

test('a page of the sandbox says so before all else, links within the sandbox, and is not to be found by search', () => {
  const text = made({ site: SANDBOX })
  expect(text).toContain('Sandbox: simulated questions.')
  expect(text).toContain('<meta name="robots" content="noindex">')
  const paths = [...text.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, path]) => path!)
  expect(paths.filter((path) => path !== '/' && !path.startsWith('/sandbox/'))).toEqual([])
})

test('what a title or a description holds stays text', () => {
  const hostile = `"onload=alert(1) <script>`
  const text = made({ title: hostile, description: hostile })
  expect(text).not.toMatch(/"onload|<script>/)
})

describe('with words of the operator', () => {
  const site = (about: About) => ({ ...PRODUCTION, publicUrl: 'https://example.org', about })

  test('the name of the service stands in the title, in previews and in the head', () => {
    const text = made({ site: site({ serviceName: 'Who knew?' }) })
    expect(text).toContain('<title>Agents · Who knew?</title>')
    expect(text).toContain('<meta property="og:site_name" content="Who knew?">')
    expect(text).toContain('<a class="home" href="/">Who knew?</a>')
    expect(text).not.toContain('Forecast verification')
    expect(text).not.toContain('class="operator"')
  })

  test('the foot says who runs the service, with their links', () => {
    const text = made({
      site: site({
        serviceName: 'Who knew?',
        operatorName: 'Example University',
        contactUrl: 'mailto:office@example.org?subject=Forecasts&body=Hello',
        imprintUrl: 'https://example.org/imprint',
        privacyUrl: 'https://example.org/privacy',
        dataLicenceUrl: 'https://example.org/licence',
      }),
    })
    expect(text).toContain(
      '<p class="operator">Run by <bdi>Example University</bdi> · <a href="mailto:office@example.org?subject=Forecasts&amp;body=Hello">Contact</a> · ' +
        '<a href="https://example.org/imprint">Imprint</a> · <a href="https://example.org/privacy">Privacy</a> · ' +
        '<a href="https://example.org/licence">Licence of the data</a></p>',
    )
  })

  test('hostile words stay text', () => {
    const hostile = '"><script>alert(1)</script>'
    const text = made({
      site: site({
        serviceName: hostile,
        operatorName: hostile,
        contactUrl: `https://example.org/${hostile}`,
      }),
    })
    expect(text).not.toContain('<script>')
    expect(text).not.toContain('">&lt;/a')
  })
})

test('the foot has the key of the public log, where there is one', () => {
  expect(made({ site: { ...PRODUCTION, logKeys: ['log.example.org+1a2b3c4d+AbCd'] } })).toContain(
    '<p class="operator">Key of the public log: <code>log.example.org+1a2b3c4d+AbCd</code> </p>',
  )
  expect(made({ site: { ...PRODUCTION, logKeys: [] } })).not.toContain('Key of')
})
