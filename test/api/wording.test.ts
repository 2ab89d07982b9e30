// What callers are told of wrong input: whole sentences about every value, none of them the validator's own.
import { describe, expect } from 'vitest'
import { z } from 'zod'
import { parseInput } from '../../api/http/input.ts'
import { allRoutes } from '../../api/routes/all.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { WORDED } from '../../schemas/wording.ts'
import { expectProblem, pointersOf } from '../support/http/problem.ts'
import { test } from '../support/http/fixtures.ts'
import { type Answer, type TestService } from '../support/http/service.ts'
import { uuidOf } from '../support/worlds/world.ts'

let service: TestService
test.beforeAll(async ({ folder, serve }) => {
  service = await serve({ folder })
})

/** Words of zod's own messages, in any of its locales that could be the default. */
const VALIDATOR = /invalid|expected|received|too (small|big)|unrecognized|option|>=|<=|input|NaN|undefined/i
const SENTENCE = /^(the (path|query|body)|\S+) (must|is|does) [^.]+$/

const HOSTILE: unknown[] = [
  undefined,
  null,
  true,
  0,
  -1,
  1.5,
  1e308 * 10,
  '',
  ' ',
  'x',
  '0',
  '9'.repeat(30),
  '\ud800',
  'x'.repeat(3000),
  '2026-02-30',
  uuidOf(1, 1),
  [],
  [null],
  [[uuidOf(1, 1)]],
  {},
  { length: 1 },
]
const routes = allRoutes({ version: '1', methodology: METHODOLOGY, methodologyText: new Uint8Array() })
const parts = routes.flatMap(({ method, path, params, query, body }) =>
  Object.entries({ path: params, query, ...(body ? { body } : {}) }).map(
    ([part, schema]) => [`${part} of ${method} ${path}`, part as 'path' | 'query' | 'body', schema] as const,
  ),
)

/** A refusal of an input; undefined if it is taken. */
function refusalOf(...given: Parameters<typeof parseInput>): ServiceError | undefined {
  try {
    parseInput(...given)
    return undefined
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
}

test.for(parts)('of the %s, no fault is in the words of the validator', ([, part, schema]) => {
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  const inputs = [
    ...HOSTILE,
    ...names.flatMap((name) => HOSTILE.map((value) => ({ [name]: value }))),
    ...HOSTILE.map((value) => Object.fromEntries(names.map((name) => [name, value]))),
    { colour: 1, 'a/b~c': 2 },
  ]
  let refused = 0
  for (const input of inputs) {
    const error = refusalOf(schema, input, part)
    if (!error) continue
    refused += 1
    expect(error.faults.length).toBeGreaterThan(0)
    for (const { pointer, detail } of error.faults) {
      const [name] = detail.split(' ')
      if (pointer === '') expect(detail).toMatch(/^the /)
      else expect(name).toBe(pointer.slice(1))
      expect(detail).toMatch(SENTENCE)
      expect(detail.replace(name!, '')).not.toMatch(VALIDATOR)
    }
    expect(error.message).toBe(`the ${part} is not valid: ${error.faults[0]!.detail}`)
  }
  expect(refused).toBeGreaterThan(10)
})

describe('a value', () => {
  const register = (body: unknown): Promise<Answer> => service.client.post('/agents/register', body)
  const bulk = (body: unknown): Promise<Answer> => service.client.post('/verification/bulk', body)
  const get = (path: string): Promise<Answer> => service.client.get(path)
  const id = uuidOf(1, 1)

  test.for([
    ['of many that are missing', () => register({}), ['name is required', 'model_type is required']],
    ['of a kind that is missing', () => bulk({ ids: [id] }), ['entity_type is required']],
    [
      'of an unknown kind',
      () => bulk({ entity_type: 'team', ids: [id] }),
      ['entity_type must be one of agent, forecaster'],
    ],
    ['in a list', () => bulk({ entity_type: 'agent', ids: [id, 'x'] }), ['ids/1 must be a UUID']],
    [
      'that should be a list',
      () => bulk({ entity_type: 'agent', ids: id }),
      ['ids must be a list, not a string'],
    ],
    [
      'that is a list of nothing',
      () => bulk({ entity_type: 'agent', ids: [] }),
      ['ids must name at least one id'],
    ],
    [
      'in the path',
      () => get('/snapshots/team/x'),
      ['entity_type must be one of agent, forecaster', 'entity_id must be a UUID'],
    ],
    [
      'in the query',
      () => get('/questions?status=gone'),
      ['status must be one of upcoming, open, closed, resolved'],
    ],
    ['beyond a bound', () => get('/questions?limit=1001'), ['limit must be at most 1000']],
  ] as const)('%s is told of in a sentence', async ([, ask, details]) => {
    const answer = await ask()
    expectProblem(answer, 422, new RegExp(`^the (path|query|body) is not valid: ${details[0]}$`))
    expect(answer.json<{ errors: { detail: string }[] }>().errors.map(({ detail }) => detail)).toEqual(
      details,
    )
  })

  test('with a name of many characters is told of by its first hundred', async () => {
    const answer = await register({ name: 'a', model_type: 'm', ['🦉'.repeat(5000)]: 1 })
    expectProblem(answer, 422, /^the body is not valid: 🦉{49}\ufffd… is not known here$/u)
    expect(answer.bytes.length).toBeLessThan(25_000)
  })

  test('is named with up to a hundred others', async () => {
    const names = Array.from({ length: 4000 }, (_, index) => `x${index}`)
    const answer = await register(Object.fromEntries(names.map((name) => [name, 1])))
    expect(pointersOf(answer)).toEqual([
      '/name',
      '/model_type',
      ...names.slice(0, 98).map((name) => `/${name}`),
    ])
  })
})

describe('a schema without words of its own', () => {
  test.for([
    [z.string().min(3), 'ab', 'must have at least 3 characters'],
    [z.string().max(1), 'ab', 'must have at most 1 characters'],
    [z.number().gt(1), 1, 'must be more than 1'],
    [z.number().lt(1), 1, 'must be less than 1'],
    [z.number(), Infinity, 'must be a number, not one that is too large'],
    [z.int(), 1.5, 'must be a whole number'],
    [z.number().multipleOf(5), 3, 'must be a multiple of 5'],
    [z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 items'],
    [z.literal('a'), 'b', 'must be a'],
    [z.boolean(), 'a', 'must be true or false, not a string'],
    [z.uuid(), 'a', 'does not have the right form'],
    [z.union([z.string(), z.number()]), true, 'does not have the right form'],
    [z.record(z.string(), z.string()), 1, 'must be a JSON object, not a number'],
  ] as const)('%#', ([schema, value, wording]) => {
    expect(schema.safeParse(value, WORDED).error?.issues[0]?.message).toBe(wording)
  })
})
