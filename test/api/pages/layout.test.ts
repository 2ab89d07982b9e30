// The frame of pages: what search engines and previews are told, and where links lead in each environment.
import { expect, test } from 'vitest'
import { html } from '../../../api/pages/html.ts'
import { type Page, page } from '../../../api/pages/layout.ts'

const PRODUCTION = { environment: 'production', publicUrl: undefined } as const
const SANDBOX = { environment: 'sandbox', publicUrl: 'https://example.org/fvs' } as const

function made(over: Partial<Page>): string {
  return page({
    site: PRODUCTION,
    title: 'Agents',
    description: 'All agents in order of rank.',
    path: '/view/agents?page=2',
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
