// A note that an agent sends with its new name, and gets back.
import { type Recipe, replace } from './recipe.ts'

export const field: Recipe = {
  names: { resource: 'self-service', route: 'keys' },
  files: {
    'schemas/requests.ts': [
      replace(
        "export const renaming = z.strictObject({ name: name.describe('The name from the next release on') })",
        `export const renaming = z.strictObject({
  name: name.describe('The name from the next release on'),
  note: name.optional().describe('Why, for the answer alone'),
})`,
      ),
    ],
    'schemas/answers.ts': [
      replace(
        "  name: z.string().describe('From the next release on; earlier releases keep the old one'),\n",
        `  name: z.string().describe('From the next release on; earlier releases keep the old one'),
  note: z.string().nullable().describe('Why, as it was sent'),
`,
      ),
    ],
    'api/routes/keys.ts': [
      replace(
        "example: { agent_id: AGENT_ID, name: 'another name' },",
        "example: { agent_id: AGENT_ID, name: 'another name', note: null },",
      ),
      replace(
        'return { body: { agent_id, name: body.name } }',
        'return { body: { agent_id, name: body.name, note: body.note ?? null } }',
      ),
    ],
    'test/api/self-service.test.ts': [
      replace('toEqual({ agent_id: agentId, name })', 'toEqual({ agent_id: agentId, name, note: null })'),
    ],
  },
}
