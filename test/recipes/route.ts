// `GET /clock`, which answers the time of the service.
import { type Recipe, after } from './recipe.ts'

export const route: Recipe = {
  names: { resource: 'clock', call: 'getClock' },
  files: {
    'schemas/answers.ts': [
      after(
        'export const tier = z.enum(TIERS)\n',
        "export const clockTime = z.strictObject({ now: instant.describe('The time of the service') })\n",
      ),
    ],
    'schemas/json-schemas.ts': [
      after("  'key-usage': answers.keyUsage,\n", "  'clock-time': answers.clockTime,\n"),
    ],
    'api/routes/clock.ts': `// The time of the service.
import { clockTime } from '../../schemas/answers.ts'
import { route } from '../http/route.ts'

export const getClock = route({
  path: '/clock',
  operationId: 'getClock',
  tag: 'Service',
  summary: 'The time of the service',
  description: 'Forecasts are dated by it.',
  success: {
    description: 'The time',
    body: clockTime,
    cache: 'no-store',
    example: { now: '2026-03-01T12:00:00.000Z' },
  },
  handle: (_, { now }) => ({ body: { now: now().toISOString() } }),
})
`,
    'api/routes/all.ts': [
      after("import { compareTwo } from './compare.ts'\n", "import { getClock } from './clock.ts'\n"),
      after('    ...aboutService,\n', '    getClock,\n'),
    ],
    'test/api/clock.test.ts': `import { expect, test } from 'vitest'
import { expectValid } from '../support/json-schema.ts'
import { testService } from '../support/http/service.ts'

test('GET /clock answers the time of the service', async () => {
  const { client } = await testService()
  const answer = await client.get('/clock')
  expect(answer.status).toBe(200)
  expectValid('clock-time', answer.json())
})
`,
  },
}
