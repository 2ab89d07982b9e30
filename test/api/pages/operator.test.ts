// The operator's page as bytes: static, out of search engines and of the way, and a script that keeps nothing.
import { expect } from 'vitest'
import { OPERATOR_SCOPES } from '../../../schemas/tiers.ts'
import { textOf } from '../../support/fenced-blocks.ts'
import { testWith } from '../../support/http/fixtures.ts'
import { type TestService, bearer } from '../../support/http/service.ts'
import { NOW, QUESTION } from '../../support/worlds/world.ts'

let service: TestService
const test = testWith({ PUBLIC_URL: 'https://forecasts.example.org/' })
test.beforeAll(({ service: given }) => {
  service = given
})

test('the page is the same with a key and without, and no search engine may list it', async () => {
  for (const mount of ['', '/sandbox']) {
    const path = `${mount}/operator`
    const { status, text, headers } = await service.client.get(path)
    expect(status).toBe(200)
    expect(headers['set-cookie']).toBeUndefined()
    expect(headers['content-security-policy']).toContain("connect-src 'self'; form-action 'self'")
    expect(text).toContain('<meta name="robots" content="noindex">')
    expect(text).toContain(`data-mount="${mount}"`)
    expect(text).not.toMatch(/<script>|<style| style="| on\w+="/)
    const { registry } = service.components
    const key = await registry.createOperatorKey('the operator', new Date(NOW), OPERATOR_SCOPES)
    const keyed = await service.client.get(path, bearer(key))
    // A key of production is a wrong one in the sandbox, and no page looks at a key.
    expect(keyed.text).toBe(text)
    expect(text).toMatch(/<input name="key" type="password" autocomplete="off"[^>]*>/)
    expect(text).not.toMatch(/<input name="key"[^>]* value=/)
  }
})

test('no other page leads to it, nor does the map', async () => {
  const paths = ['/', '/view/agents', '/view/questions', `/view/questions/${QUESTION.open}`, '/view/verify']
  for (const path of [...paths, '/sitemap.xml', '/robots.txt', '/llms.txt']) {
    const { status, text } = await service.client.get(path)
    expect(status).toBe(200)
    expect(text, path).not.toMatch(/["/>]operator\b(?!\/)/)
  }
})

test('its script stores nothing, and makes no markup of what it is told', () => {
  const script = textOf('api/pages/assets/operator.js')
  expect(script).not.toMatch(
    /localStorage|sessionStorage|indexedDB|cookie|caches\b|history\.|location|serviceWorker|postMessage|window\.name/i,
  )
  expect(script).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function\(|console\./)
})
