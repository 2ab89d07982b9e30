// Files of an imaginary platform, with a question and a forecaster in each line.
import { type Recipe, after, before } from './recipe.ts'

export const importer: Recipe = {
  names: { source: 'example', file: 'lines.csv' },
  files: {
    'pipeline/import/sources/example.ts': `// An imaginary platform: a line for each forecast.
import { type ImportSource, instant } from '../source.ts'

export const example: ImportSource = {
  name: 'example',
  // The version 5 UUID of example.org in the namespace of domain names.
  namespace: 'aad03681-8b63-5304-89e0-8ca8f49461b5',
  forms: {
    lines: { required: { id: 'question', asked: 'asked', ends: 'ends', outcome: 'outcome', who: 'who', chance: 'chance', made: 'made' } },
  },
  rows: [
    {
      kind: 'questions',
      form: 'lines',
      columns: {
        question_id: 'r.id',
        title: 'r.id',
        source: \`'example'\`,
        source_id: 'r.id',
        opened_at: instant('r.asked'),
        closes_at: instant('r.ends'),
      },
    },
    {
      kind: 'resolutions',
      form: 'lines',
      columns: { question_id: 'r.id', outcome: 'r.outcome', resolved_at: instant('r.ends') },
    },
    { kind: 'forecasters', form: 'lines', columns: { user_id: 'r.who' } },
    {
      kind: 'forecasts',
      form: 'lines',
      columns: {
        entity_id: 'r.who',
        question_id: 'r.id',
        probability: 'r.chance',
        forecast_at: instant('r.made'),
      },
    },
  ],
}
`,
    'pipeline/import/sources.ts': [
      after(
        "import type { ImportSource } from './source.ts'\n",
        "import { example } from './sources/example.ts'\n",
      ),
      after('  polymarket,\n', '  example,\n'),
    ],
    'test/import/sources/example/README.md': 'A made-up file.\n',
    'test/import/sources/example/lines.csv': `question,asked,ends,outcome,who,chance,made
Will it rain?,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z,yes,ada,0.7,2026-01-02T00:00:00Z
`,
    'docs/import.md': [before('### gjp\n', '### example\n\n- Trap: it is imaginary.\n\n')],
  },
}
