// The language of a question, from a file of questions.
import { type Recipe, after } from './recipe.ts'

export const column: Recipe = {
  names: { name: 'a-language' },
  files: {
    'schemas/tables.ts': [
      after(
        "      optional('background', 'prose', 'what is known about it'),\n",
        "      optional('language', 'text', 'the language of the title'),\n",
      ),
    ],
    'pipeline/import/columns.ts': [
      after(
        "    optional('category', 'name', 'weather', { longest: NAME_CHARACTERS }),\n",
        "    optional('language', 'name', 'en', { longest: NAME_CHARACTERS }),\n",
      ),
    ],
    'test/tables/plain-parquet.test.ts': [
      after("      'background BYTE_ARRAY UTF8 OPTIONAL',\n", "      'language BYTE_ARRAY UTF8 OPTIONAL',\n"),
    ],
    'test/import/cases/a-language/a.csv': `question_id,title,language,opened_at,closes_at
5f0b6f4e-8f5e-4d0a-9c58-1d1b0c6f7a21,Will it rain?,en,2026-01-01T00:00:00Z,2026-06-01T00:00:00Z
`,
    'test/import/cases/a-language/said.txt': `$ fvs import questions a.csv
$ SELECT title, language FROM questions
`,
  },
}
