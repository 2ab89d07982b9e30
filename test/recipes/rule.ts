// The title of a question must not be its id.
import { type Recipe, after, replace } from './recipe.ts'

export const rule: Recipe = {
  names: { name: 'a-title-that-is-an-id' },
  files: {
    'pipeline/import/rules.ts': [
      after(
        "  { leftOut: 'the question closes before it opens, or as it does' },\n)\n",
        `
const titled = rule(
  \`\${valueOf('title')} = \${valueOf('question_id')}\`,
  'title is {title}, the id of the question',
  { leftOut: 'the title of the question is its id' },
)
`,
      ),
      replace(
        "=== 'opened_at') ? [closesAfterOpening, opensBeforeOutcome]",
        "=== 'opened_at') ? [titled, closesAfterOpening, opensBeforeOutcome]",
      ),
    ],
    'test/import/cases/a-title-that-is-an-id/a.csv': `question_id,title,opened_at,closes_at
5f0b6f4e-8f5e-4d0a-9c58-1d1b0c6f7a21,5f0b6f4e-8f5e-4d0a-9c58-1d1b0c6f7a21,2026-01-01T00:00:00Z,2026-06-01T00:00:00Z
`,
    'test/import/cases/a-title-that-is-an-id/said.txt': `$ fvs import questions a.csv
`,
  },
}
