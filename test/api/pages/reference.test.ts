// The page for developers: it shows every call of the OpenAPI document, all its links lead somewhere, and its
// commands can be pasted into a shell.
import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { openApiDocument } from '../../../api/openapi/document.ts'
import {
  type ApiDocument,
  callsOf,
  fieldsTable,
  typeOf,
  referencePage,
} from '../../../api/pages/reference.ts'
import { allRoutes } from '../../../api/routes/all.ts'
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import { textOf } from '../../support/http/page-text.ts'
import { testService } from '../../support/http/service.ts'

const SITE = { environment: 'production', publicUrl: undefined } as const
const routes = allRoutes({ version: '1.0.0', methodology: METHODOLOGY, methodologyText: new Uint8Array() })
const api = JSON.parse(JSON.stringify(openApiDocument(routes, '1.0.0'))) as ApiDocument
const { text } = referencePage(SITE, api)

const UNESCAPED: Record<string, string> = {
  '&quot;': '"',
  '&#39;': "'",
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
}
const commandsIn = (page: string) =>
  Array.from(page.matchAll(/<pre>(curl [^<]*)<\/pre>/g), ([, command]) =>
    command!.replaceAll(/&(?:quot|#39|lt|gt|amp);/g, (entity) => UNESCAPED[entity]!),
  )

test('has every call and every schema once, under its own anchor', () => {
  const ids = Array.from(text.matchAll(/ id="([^"]+)"/g), ([, id]) => id!)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { operation } of callsOf(api)) expect(ids).toContain(operation.operationId)
  for (const name of Object.keys(api.components.schemas)) expect(ids).toContain(`schema-${name}`)
  for (const [, anchor] of text.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(anchor)
})

test('says of each call what it needs, takes and answers', () => {
  const [, call] = /<div id="submitForecast">(.*?)<\/details>/s.exec(text)!
  for (const part of [
    'Needs the agent’s own key.',
    '<code>agent_id</code> <small>path</small>',
    '<code>Idempotency-Key</code> <small>header, optional</small>',
    '<code>probability</code></th><td>number, 0 to 1</td>',
    '<b>200</b> The forecast is durable',
    '<a href="#schema-AcknowledgedForecast">',
    '<b>409</b>',
  ]) {
    expect(call).toContain(part)
  }
})

test('has a command for each call that a shell can read, with variables for the address and the key', () => {
  const commands = commandsIn(text)
  expect(commands).toHaveLength(callsOf(api).length)
  execFileSync('sh', ['-n'], { input: commands.join('\n') })
  for (const command of commands) expect(command).toMatch(/^curl (-X [A-Z]+ )?"\$FVS_URL\/[^{}\s]*"/)
  expect(commands).toContain(
    `curl "$FVS_URL/agents/01955c3a-7b1e-7c32-9d4f-2f6b8e1a0c5d/forecast" \\
  -H "Authorization: Bearer $FVS_KEY" \\
  --json '{"question_id":"5f0b6f4e-8f5e-4d0a-9c58-1d1b0c6f7a21","probability":0.73}'`,
  )
  expect(commands.filter((command) => command.includes('-X PUT'))).not.toEqual([])
})

test('commands of the sandbox name its address', () => {
  const site = { environment: 'sandbox', publicUrl: 'https://example.org' } as const
  for (const command of commandsIn(referencePage(site, api).text)) {
    expect(command).toContain('"https://example.org/sandbox/')
  }
})

describe('a schema in words:', () => {
  test.for([
    [{ type: 'integer', minimum: 1, maximum: 1000 }, 'integer, 1 to 1000'],
    [{ type: 'string', minLength: 1, maxLength: 200 }, 'string, 1 to 200 characters'],
    [{ type: 'string', format: 'uuid' }, 'string, uuid'],
    [{ type: ['string', 'null'] }, 'string or null'],
    [{ anyOf: [{ type: 'number', maximum: 1 }, { type: 'null' }] }, 'number, at most 1 or null'],
    [{ enum: ['yes', 'no'] }, '"yes", "no"'],
    [{ const: 'question.opened' }, '"question.opened"'],
    [
      { type: 'array', items: { $ref: '#/components/schemas/Event' }, minItems: 1 },
      'list of Event, at least 1 items',
    ],
    [{ type: 'object', additionalProperties: { type: 'integer' } }, 'object of integer'],
    [{}, 'any value'],
  ] as const)('%j is %s', ([schema, words]) => {
    expect(textOf(typeOf(schema)).trim()).toBe(words)
  })

  test('fields of objects without a name follow them', () => {
    const lower = { type: 'number', description: 'the lower end' }
    const shown = fieldsTable('Fields', {
      required: ['interval'],
      properties: {
        interval: { anyOf: [{ type: 'object', properties: { lower } }, { type: 'null' }] },
        list: { type: 'array', items: { type: 'object', properties: { lower } } },
      },
    })!.text
    expect(Array.from(shown.matchAll(/<th scope="row"><code>([^<]+)/g), ([, name]) => name)).toEqual([
      'interval',
      'interval.lower',
      'list',
      'list[].lower',
    ])
  })

  test('what it says stays text', () => {
    const hostile = '<script>alert(1)</script>'
    const shown = fieldsTable(hostile, {
      properties: { [hostile]: { type: hostile, description: hostile } },
    })!
    expect(shown.text).not.toContain('<script>')
  })
})

test.for(['', '/sandbox'])('%s/docs is a page of the service, without scripts', async (mount) => {
  const { client } = await testService()
  const { status, headers, text: served } = await client.get(`${mount}/docs`)
  expect(status).toBe(200)
  expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self';/)
  expect(served).not.toContain('<script')
  expect(served).toContain(`<link rel="alternate" type="application/json" href="${mount}/openapi.json">`)
  for (const path of ['/docs/', '/docs/viewer.js', '/docs/%2e%2e/package.json']) {
    expect((await client.get(mount + path)).status, path).toBe(404)
  }
})
