import { PROBLEM_NAMES, PROBLEM_TYPES, problemAddress } from '../../../schemas/problems.ts'
import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import { openApiDocument } from '../../../api/openapi/document.ts'
import { componentName } from '../../../api/openapi/schemas.ts'
import type { Route } from '../../../api/http/route.ts'
import { allRoutes } from '../../../api/routes/all.ts'
import { REQUESTS, REQUEST_PARTS } from '../../../schemas/json-schemas.ts'
import { ApiDocument, type Document } from '../../support/http/api-document.ts'
import { exampleOf, send } from '../../support/http/example-request.ts'
import { testService } from '../../support/http/service.ts'

const routes = allRoutes({ version: '1.0.0', methodology: METHODOLOGY, methodologyText: new Uint8Array() })
const made = JSON.parse(JSON.stringify(openApiDocument(routes, '1.0.0'))) as Document
const api = new ApiDocument(made)
const operations = api.operations.map((operation) => [operation.operationId, operation] as const)

describe('the document', () => {
  test('is valid by the schema of OpenAPI 3.1', async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(structuredClone({ ...made }))
    expect(errors).toBeUndefined()
    expect(valid).toBe(true)
    expect(validator.version).toBe('3.1')
  })

  test('has the name of the service and who answers for it, as far as the operator has said so', () => {
    const info = (about?: Parameters<typeof openApiDocument>[2]) =>
      (openApiDocument(routes, '1.0.0', about) as { info: object }).info
    expect(info({ serviceName: 'Forecast verification' })).toEqual(info())
    expect(
      info({
        serviceName: 'Who knew?',
        operatorName: 'Example',
        contactUrl: 'mailto:a@example.org?subject=b',
      }),
    ).toMatchObject({ title: 'Who knew?', contact: { name: 'Example', email: 'a@example.org' } })
    expect(info({ serviceName: 'Who knew?', contactUrl: 'https://example.org/' })).toMatchObject({
      contact: { url: 'https://example.org/' },
    })
  })

  test('has each route once', () => {
    const documented = routes.filter(({ isDocumented }) => isDocumented !== false)
    const names = documented.map(({ method, path }) => `${method} ${path}`)
    expect(new Set(names).size).toBe(names.length)
    expect(api.operations.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(names.toSorted())
  })

  test('is served under each of its servers', async () => {
    const { client } = await testService()
    for (const { url } of made.servers) {
      const path = `${url.replace(/\/$/, '')}/openapi.json`
      const served = await client.get(path)
      expect(served.json<Document>().paths, path).toEqual(made.paths)
      const { headers } = await client.get(path, { 'If-None-Match': served.headers.etag! })
      expect(headers.etag).toBe(served.headers.etag)
    }
  })

  test('names no operation twice and every tag', () => {
    const ids = api.operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const tags = new Set(api.operations.flatMap((operation) => operation.tags))
    expect(made.tags.map(({ name }) => name).toSorted()).toEqual([...tags].toSorted())
  })

  test('refers to nothing that is not there, and has nothing that nobody refers to', () => {
    const text = JSON.stringify(made)
    const referred = new Set([...text.matchAll(/"#\/components\/([^"]+)"/g)].map(([, name]) => name!))
    const there = (['schemas', 'headers', 'responses'] as const).flatMap((kind) =>
      Object.keys(made.components[kind]).map((name) => `${kind}/${name}`),
    )
    expect([...referred].filter((name) => !there.includes(name))).toEqual([])
    // The headers of every answer are told of once, in words.
    const unused = there.filter((name) => !referred.has(name))
    expect(unused.filter((name) => !/Security|Referrer|XContent|XFrame/.test(name))).toEqual([])
  })

  const sent = new Set(Object.keys({ ...REQUESTS, ...REQUEST_PARTS }).map(componentName))
  const [requests, answers] = [true, false].map((isSent) =>
    Object.entries(made.components.schemas).filter(([name]) => sent.has(name) === isSent),
  )
  test.for(requests!)('refuses fields that %s does not have', ([, schema]) => {
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false })
  })

  test.for(answers!)('lets a later version answer %s with more fields', ([, schema]) => {
    expect(JSON.stringify(schema)).not.toContain('"additionalProperties":false')
  })

  test('says which answers are bytes, and that a credential is JSON', () => {
    const read = api.operations.filter(({ responses }) => '200' in responses)
    const contents = read.flatMap((operation) => Object.entries(api.response(operation, '200').content ?? {}))
    const bodiesOf = (type: string) =>
      contents.filter(([name]) => name === type).map(([, { schema }]) => schema)
    expect(bodiesOf('image/png')).toEqual(
      Array.from({ length: 2 }, () => ({ type: 'string', format: 'binary' })),
    )
    for (const type of ['application/ld+json', 'application/json']) {
      expect(bodiesOf(type)).toEqual(expect.arrayContaining(bodiesOf('application/vc')))
    }
    expect(bodiesOf('application/vc')).toHaveLength(3)
  })

  test('names each kind of object and each choice of words that answers have', () => {
    const unnamed: string[] = []
    const look = (part: unknown, at: string) => {
      if (typeof part !== 'object' || part === null) return
      if ('enum' in part) unnamed.push(at)
      for (const [name, inner] of Object.entries(part)) look(inner, `${at}.${name}`)
    }
    for (const [name, schema] of answers!) {
      for (const [inside, part] of Object.entries(schema)) look(part, `${name}.${inside}`)
    }
    // Choices of one column only.
    expect(unnamed.filter((at) => !at.startsWith('Correction.') && !at.startsWith('ManifestFile.'))).toEqual(
      [],
    )
  })

  test.for(Object.entries(made.components.headers))('gives an example of the header %s', ([, header]) => {
    expect(api.faultsOf(header.schema, header.example)).toEqual([])
  })
})

/**
 * What a page prefills is sent by everyone who tries a call: the first two would be shared between strangers,
 * and the others would ask for an earlier release, or for a category that it may not have.
 */
const WITHOUT_EXAMPLE = ['Idempotency-Key', 'cursor']
const OF_A_RELEASE = ['release', 'category']
const isWithoutExample = (name: string, { namesRelease }: Route) =>
  WITHOUT_EXAMPLE.includes(name) || (namesRelease === true && OF_A_RELEASE.includes(name))

describe('the operation', () => {
  test.for(operations)(
    '%s has words and true examples for all that it takes and answers',
    ([, operation]) => {
      const { summary, description, parameters, requestBody, responses } = operation
      const spec = routes.find(({ method, path }) => method === operation.method && path === operation.path)!
      expect(summary.length).toBeGreaterThan(5)
      expect(description.length).toBeGreaterThan(20)
      for (const { name, schema, example, description: about } of parameters) {
        expect(about, name).toBeTruthy()
        if (isWithoutExample(name, spec)) {
          // A viewer would also take one out of the schema.
          for (const prefilled of [example, schema.default, schema.examples, schema.example]) {
            expect(prefilled, name).toBeUndefined()
          }
          continue
        }
        expect(example, name).toBeDefined()
        expect(api.faultsOf(schema, example), name).toEqual([])
      }
      expect(requestBody === undefined).toBe(spec.body === undefined)
      const contents = [
        requestBody?.content ?? {},
        ...Object.keys(responses).map((status) => api.response(operation, status).content ?? {}),
      ]
      for (const { schema, examples } of contents.flatMap((content) => Object.values(content))) {
        const values = Object.values(examples).map(({ value }) => value)
        expect(values.length).toBeGreaterThan(0)
        for (const value of values) expect(api.faultsOf(schema, value), JSON.stringify(value)).toEqual([])
      }
    },
  )

  test('with an Idempotency-Key or a cursor is tried without one', () => {
    const names = api.operations.flatMap(({ parameters }) => parameters.map(({ name }) => name))
    for (const name of WITHOUT_EXAMPLE) expect(names).toContain(name)
  })

  test('that registers an agent gives two people who try it an agent each', async () => {
    const { client } = await testService()
    const operation = api.operations.find(({ operationId }) => operationId === 'registerAgent')!
    const request = exampleOf(operation, {
      agent: '',
      leavingAgent: '',
      keylessAgent: '',
      operator: '',
      client: '',
    })
    const answers = [await send(client, request), await send(client, request)]
    expect(answers.map(({ status }) => status)).toEqual([201, 201])
    const [one, two] = answers.map((answer) => answer.json<{ agent_id: string; api_key: string }>())
    expect(one!.agent_id).not.toBe(two!.agent_id)
    expect(one!.api_key).not.toBe(two!.api_key)
  })

  test.for(operations)('%s says for each error what its problem is', ([, operation]) => {
    for (const status of Object.keys(operation.responses).filter((text) => Number(text) >= 400)) {
      const { content, description } = api.response(operation, status)
      const { value } = content!['application/problem+json']!.examples['problem']! as {
        value: { status: number; type: string }
      }
      expect(description).toBeTruthy()
      expect(value.status).toBe(Number(status))
      const type = PROBLEM_NAMES.find((name) => problemAddress(name) === value.type)
      expect(type === undefined ? 429 : PROBLEM_TYPES[type].status, value.type).toBe(Number(status))
    }
  })
})

test('a schema finds what is wrong with an example', () => {
  const problem = { $ref: '#/components/schemas/Problem' }
  expect(api.faultsOf(problem, { type: '/problems/failed', title: 'a', status: 400 })).toHaveLength(1)
  expect(api.faultsOf(problem, { type: 'about:blank', title: 'a', status: 400, detail: 'b' })).toHaveLength(1)
  const results = { $ref: '#/components/schemas/BulkResults' }
  expect(api.faultsOf(results, { results: [{ id: 'x', status: 'not_found' }] })).not.toEqual([])
})

test('no package runs something when it is installed', () => {
  const lock = JSON.parse(readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8')) as {
    packages: Record<string, { hasInstallScript?: boolean }>
  }
  const running = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript)
  expect(running.map(([path]) => path)).toEqual([])
})
