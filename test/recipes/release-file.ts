// The tables that a release is made of, as a file of its own.
import { type Recipe, after, before, replace } from './recipe.ts'

export const releaseFile: Recipe = {
  names: { kind: 'inputs' },
  files: {
    'schemas/payloads.ts': [
      before(
        'const pieceOfFile = ',
        `export const inputsFile = z
  .strictObject({ ...provenance, tables: z.array(z.string()) })
  .describe('The tables that the release is made of')
`,
      ),
    ],
    'schemas/json-schemas.ts': [
      after("  'method-file': payloads.methodFile,\n", "  'inputs-file': payloads.inputsFile,\n"),
    ],
    'pipeline/release/files/inputs.ts': `// The tables that a release is made of.
import { canonical } from '../../proof/canonical.ts'
import type { TableKind } from './kind.ts'

const INPUTS_FOLDER = 'inputs/'
const TABLES_PATH = \`\${INPUTS_FOLDER}tables.json\`

export const INPUTS: TableKind = {
  name: 'inputs',
  places: [INPUTS_FOLDER],
  *makeFromTables({ versions, provenance }) {
    yield { path: TABLES_PATH, rows: 1, bytes: canonical({ ...provenance, tables: Object.keys(versions) }) }
  },
  arrange: (staged) => [staged.take(TABLES_PATH)],
}
`,
    'pipeline/release/files/kinds.ts': [
      after(
        "import { FORECASTS_TREE } from './forecasts-tree.ts'\n",
        "import { INPUTS } from './inputs.ts'\n",
      ),
      after('  METHOD,\n', '  INPUTS,\n'),
    ],
    'test/release/determinism.test.ts': [
      before(
        "      'releases/00000001/leaderboard/agent/000000.json',\n",
        "      'releases/00000001/inputs/tables.json',\n",
      ),
    ],
    'test/api/verification.test.ts': [
      after("  ['/method/', 'method-file'],\n", "  ['/inputs/', 'inputs-file'],\n"),
      replace('expect(names.size).toBe(21)', 'expect(names.size).toBe(22)'),
    ],
    'docs/data.md': [
      replace(
        '\n| `releases/<8 digits>/method/parameters.json`',
        '\n| `releases/<8 digits>/inputs/tables.json` | its tables |\n| `releases/<8 digits>/method/parameters.json`',
      ),
      before(
        '        "arn:aws:s3:::BUCKET/PREFIX/releases/????????/method/*",\n',
        '        "arn:aws:s3:::BUCKET/PREFIX/releases/????????/inputs/*",\n',
      ),
    ],
  },
}
