// From 2100 on no agent retires, by a problem of its own.
import { type Recipe, after, before, replace } from './recipe.ts'

export const problem: Recipe = {
  names: { route: 'keys', resource: 'late', call: 'retireAgent' },
  files: {
    'schemas/problems.ts': [
      before(
        "  'renamed-often': {",
        `  'too-late-to-retire': {
    status: 409,
    title: 'It is too late to retire',
    happened: 'From 2100 on no agent retires.',
    remedy: 'Submit no more forecasts.',
  },
`,
      ),
    ],
    'api/routes/keys.ts': [
      after(
        "import { renaming, rotation } from '../../schemas/requests.ts'\n",
        "\nconst TOO_LATE = 'no agent retires from 2100 on'\n",
      ),
      replace(
        `    example: examples.retiredAgent,
  },
  problems: { 403: NOT_OWN },
  handle: async ({ params, caller: { agent_id } }, { registry, now }) => {
`,
        `    example: examples.retiredAgent,
  },
  problems: { 403: NOT_OWN, 409: { type: 'too-late-to-retire', detail: TOO_LATE } },
  handle: async ({ params, caller: { agent_id } }, { registry, now }) => {
    if (now().getUTCFullYear() >= 2100) {
      throw new ServiceError('conflict', TOO_LATE, { type: 'too-late-to-retire' })
    }
`,
      ),
    ],
    'test/api/late.test.ts': `import { test } from 'vitest'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { expectProblem } from '../support/http/problem.ts'
import { Clock, bearer, registerAgent, testComponents, testService } from '../support/http/service.ts'

test('no agent retires from 2100 on', async () => {
  const clock = new Clock('2100-01-01T00:00:00.000Z')
  const { client } = await testService(await testComponents({ store: new MemoryStore(), clock }))
  const { agentId, key } = await registerAgent(client)
  const answer = await client.send('POST', \`/agents/\${agentId}/retire\`, { headers: bearer(key) })
  expectProblem(answer, 409, /no agent retires/, 'too-late-to-retire')
})
`,
    'test/api/openapi/walk.test.ts': [
      after(
        "  'retireAgent 200': alone,\n",
        `  'retireAgent 409': async (request) => {
    clock.set('2100-01-01T00:00:00.000Z')
    const answer = await send(service.client, request)
    clock.set(NOW)
    return answer
  },
`,
      ),
    ],
  },
}
