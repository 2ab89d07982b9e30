// The glossary: its page has an anchor for every key, and words of pages link to anchors that exist.
import { expect } from 'vitest'
import { termsPage as glossaryPage } from '../../../api/pages/explanations.ts'
import { TERMS, term } from '../../../api/pages/terms.ts'
import { test } from '../../support/http/fixtures.ts'
import { type TestService } from '../../support/http/service.ts'
import { HOSTILE_OWNER, agentIdOf, releasePageWorld } from '../../support/worlds/page-world.ts'
import { QUESTION, forecasterId } from '../../support/worlds/world.ts'

const PRODUCTION = { environment: 'production', publicUrl: undefined } as const

let service: TestService
test.beforeAll(async ({ components, serve }) => {
  await releasePageWorld(components)
  service = await serve(components)
})

test('a link to a term says the first sentence of its meaning, in the environment of the page', () => {
  expect(term(PRODUCTION, 'coverage', 'covered <b>').text).toBe(
    '<a class="term" href="/view/terms#coverage" title="For how much of a question’s life it was compared with the others.">covered &lt;b&gt;</a>',
  )
  expect(term({ ...PRODUCTION, environment: 'sandbox' }, 'skill', 'skill').text).toContain(
    'href="/sandbox/view/terms#skill"',
  )
})

test('every term has one anchor, a link to it, and two whole sentences', () => {
  const { text } = glossaryPage(PRODUCTION)
  for (const [key, { meaning, range }] of TERMS) {
    expect(key).toMatch(/^[a-z]+(-[a-z]+)*$/)
    expect(text.split(` id="${key}"`)).toHaveLength(2)
    expect(text).toContain(`<a href="#${key}">`)
    for (const sentences of [...meaning, ...(range === undefined ? [] : [range])]) {
      expect(sentences).toMatch(/^[A-Z0-9“].*\.$/)
    }
    expect(meaning[0]).not.toMatch(/\. /)
  }
})

test('no page links to a term that there is not', async () => {
  const pages = [
    '/',
    '/view/agents',
    '/view/forecasters',
    `/view/agents/${agentIdOf(0)}`,
    `/view/agents/${agentIdOf(0)}/questions`,
    `/view/agents/${agentIdOf(2)}`,
    `/view/forecasters/${forecasterId(0)}`,
    `/view/owners/${encodeURIComponent(HOSTILE_OWNER)}`,
    `/view/questions/${QUESTION.resolved}`,
    '/view/questions',
    '/view/compare',
    '/view/how',
    '/view/methodology',
    '/view/verify',
  ]
  const keys = new Set<string>(TERMS.map(([key]) => key))
  for (const path of pages) {
    const { status, text } = await service.client.get(path)
    expect(status, path).toBe(200)
    for (const [, key] of text.matchAll(/\/view\/terms#([^"]*)"/g)) expect(keys, path).toContain(key)
  }
})
