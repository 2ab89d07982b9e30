// The rules that the compiler does not know, and the boundaries between the rooms of the project.
import { defineConfig } from 'oxlint'

/**
 * For each room the other rooms that it may import, from the ground up: a room may import only those above it in this list, so
 * that no arrow ever runs in a circle. A room is a folder, a file, or with `/*` the files of a folder without its own folders.
 */
export const ARROWS: Record<string, string[]> = {}
export const room = (name: string, ...imports: string[]) => {
  for (const target of imports)
    if (!(target in ARROWS)) throw new Error(`${name} imports ${target} from above`)
  ARROWS[name] = imports
}
const GROUND = ['schemas', 'pipeline/proof', 'pipeline/store']
const DATA = [...GROUND, 'pipeline/duckdb.ts', 'pipeline/components.ts', 'pipeline/tables']
room('schemas')
room('pipeline/scoring', 'schemas')
room('pipeline/proof', 'schemas')
room('pipeline/duckdb.ts', 'schemas')
room('pipeline/bounded-fetch.ts', 'schemas')
room('pipeline/printable.ts')
room('pipeline/public-address.ts')
room('pipeline/store', 'schemas', 'pipeline/proof', 'pipeline/bounded-fetch.ts')
room('pipeline/components.ts', ...GROUND, 'pipeline/scoring', 'pipeline/duckdb.ts')
room('pipeline/tables', ...GROUND, 'pipeline/duckdb.ts', 'pipeline/components.ts')
room('pipeline/people', ...DATA)
room('pipeline/access', ...DATA)
room('pipeline/import', ...DATA, 'pipeline/people')
room('pipeline/engine', ...DATA, 'pipeline/scoring')
room('pipeline/release', ...DATA, 'pipeline/scoring', 'pipeline/engine')
room('pipeline/transparency', ...DATA, 'pipeline/bounded-fetch.ts', 'pipeline/release')
room('pipeline/credentials', ...DATA, 'pipeline/release')
room('pipeline/feed', ...DATA, 'pipeline/release')
room('pipeline/webhooks', ...DATA, 'pipeline/access', 'pipeline/public-address.ts')
room('pipeline/owners', ...DATA, 'pipeline/access', 'pipeline/public-address.ts')
const PIPELINE = Object.keys(ARROWS)
// Only the commands that check releases and the log import it.
room(
  'pipeline/audit',
  ...DATA,
  'pipeline/bounded-fetch.ts',
  'pipeline/engine',
  'pipeline/release',
  'pipeline/transparency',
  'pipeline/credentials',
)
room(
  'pipeline/backup',
  ...GROUND,
  'pipeline/tables',
  'pipeline/release',
  'pipeline/transparency',
  'pipeline/credentials',
)
const READING = [
  ...GROUND,
  'pipeline/tables',
  'pipeline/people',
  'pipeline/access',
  'pipeline/release',
  'pipeline/transparency',
  'pipeline/credentials',
  'pipeline/feed',
]
room('api/mounts.ts', 'schemas')
room('api/about.ts', 'schemas')
room('api/turns.ts', 'schemas')
room('api/limits', ...GROUND, 'pipeline/access')
room('api/questions', ...DATA, 'api/turns.ts')
room('api/current-forecasts', ...DATA, 'api/questions', 'api/turns.ts')
room('api/operator', ...DATA, 'pipeline/people', 'pipeline/access', 'pipeline/import', 'api/limits')
// Charts take numbers and words, and know nothing of the pages that they stand on.
room('api/pages/html.ts')
room('api/pages/wording.ts', 'schemas', 'api/pages/html.ts')
room('api/pages/charts', 'schemas', 'api/pages/html.ts', 'api/pages/wording.ts')
const CHARTS = ['api/pages/html.ts', 'api/pages/wording.ts', 'api/pages/charts']
// Scripts of pages share the quads of credentials, and a profile the method's list of what a title takes.
room(
  'api/pages',
  'schemas',
  'pipeline/proof',
  'pipeline/scoring',
  'pipeline/credentials',
  'api/mounts.ts',
  'api/about.ts',
  ...CHARTS,
)
room('api/published', ...READING, ...CHARTS, 'api/pages', 'api/turns.ts')
const SERVED = [
  'api/mounts.ts',
  'api/about.ts',
  'api/turns.ts',
  'api/limits',
  'api/questions',
  'api/current-forecasts',
  'api/operator',
  ...CHARTS,
  'api/pages',
  'api/published',
]
room('api/http', ...READING, ...SERVED)
room(
  'api/openapi',
  'schemas',
  'pipeline/proof',
  'pipeline/scoring',
  'pipeline/credentials',
  'api/mounts.ts',
  'api/about.ts',
  'api/limits',
  'api/http',
)
room('api/mcp', 'schemas', 'pipeline/printable.ts')
room('api/routes', ...READING, 'pipeline/scoring', ...SERVED, 'api/http', 'api/openapi', 'api/mcp')
const API = Object.keys(ARROWS).filter((name) => name.startsWith('api'))
// A package of its own, which imports nothing of the service.
room('clients/typescript')
room('clients/document.ts', 'pipeline/scoring', 'api/routes', 'api/openapi')
room('clients/add-verifier.js', 'api/pages')
room('package.json')
room('jobs/components', ...PIPELINE, 'pipeline/backup', 'api/mounts.ts', 'package.json')
room(
  'jobs/command-line',
  'schemas',
  'pipeline/printable.ts',
  'pipeline/bounded-fetch.ts',
  'pipeline/store',
  'jobs/components',
)
const COMMON = [...PIPELINE, 'pipeline/backup', 'api/mounts.ts', 'jobs/components', 'jobs/command-line']
room('jobs/keys', ...COMMON)
room('jobs/agents', ...COMMON)
room('jobs/import', ...COMMON)
room('jobs/operator', ...COMMON)
room('jobs/release', ...COMMON, 'jobs/agents')
room('jobs/monitor/state-file.ts', ...COMMON)
room('jobs/audit', ...COMMON, 'pipeline/audit', 'jobs/release', 'jobs/monitor/state-file.ts')
room('jobs/backup', ...COMMON)
room('jobs/verify', ...COMMON)
room('jobs/monitor', ...COMMON, 'jobs/verify', 'jobs/monitor/state-file.ts')
room('jobs/mcp', ...COMMON, 'api/mcp', 'clients/typescript')
room('jobs/sandbox', ...COMMON)
room('jobs/serve', ...API, ...COMMON, 'jobs/release')
room('jobs/doctor', ...API, ...COMMON, 'jobs/release', 'jobs/serve')
room('jobs/demo', ...COMMON, 'jobs/release', 'jobs/audit', 'jobs/verify', 'jobs/sandbox', 'jobs/serve')
room('jobs/*', ...Object.keys(ARROWS).filter((name) => name !== 'pipeline/audit'))
// Sources do not import tests or benchmarks.
room('bench', ...Object.keys(ARROWS))
room('test', ...Object.keys(ARROWS))

const CLOCK = 'Time comes from the clock that is passed in.'
const PURE = 'Scoring is a pure function of its arguments.'
const IMPURE = [
  'Date',
  'performance',
  'process',
  'crypto',
  'fetch',
  'queueMicrotask',
  'setTimeout',
  'setInterval',
  'setImmediate',
]
const RANDOMNESS = 'Ids and randomness are passed in.'

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'node', 'vitest'],
  jsPlugins: ['./.oxlint/house.js'],
  categories: { correctness: 'error', suspicious: 'error' },
  env: { node: true, es2024: true },
  ignorePatterns: ['dist', 'dist-*', 'test/cases', 'test/openapi/clients', 'clients/typescript/api.ts'],
  rules: {
    eqeqeq: 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'no-console': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/return-await': ['error', 'error-handling-correctness-only'],
    'typescript/only-throw-error': 'error',
    'typescript/prefer-promise-reject-errors': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'typescript/no-explicit-any': 'error',
    'typescript/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'oxc/no-barrel-file': ['error', { threshold: 0 }],
    'unicorn/prefer-node-protocol': 'error',
    'vitest/expect-expect': ['error', { assertFunctionNames: ['expect*', 'assert*', 'same*', 'fc.assert'] }],
    'vitest/valid-expect': ['error', { maxArgs: 2 }],
    // A test of a file with fixtures comes from `test/support/http/fixtures.ts`.
    'vitest/no-standalone-expect': [
      'error',
      { additionalTestBlockFunctions: ['test', 'test.for', 'test.each'] },
    ],
    // Off, because they forbid sound code: importing a default by the name it is known by; stating a type at the
    // edge of a library; sorting and filling an array of one's own; a helper beside its only use; assertions in
    // loops; exhaustive switches, which the compiler checks better; messages to threads, which have no origin.
    'import/no-named-as-default': 'off',
    'import/no-named-as-default-member': 'off',
    'no-unmodified-loop-condition': 'off',
    'promise/always-return': 'off',
    'typescript/consistent-return': 'off',
    'typescript/no-unnecessary-type-parameters': 'off',
    'typescript/no-unsafe-type-assertion': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/no-new-array': 'off',
    'unicorn/require-post-message-target-origin': 'off',
    'vitest/no-conditional-expect': 'off',
    'house/arrows': [
      'error',
      {
        arrows: ARROWS,
        packages: { schemas: ['zod'], 'schemas/generate.ts': ['node:fs/promises'], 'pipeline/scoring': [] },
        owners: {
          '@aws-sdk': 'pipeline/store/s3.ts',
          '@smithy': 'pipeline/store/s3.ts',
          '@duckdb': 'pipeline/duckdb.ts',
          '@modelcontextprotocol/server/stdio': 'jobs/mcp/mcp.ts',
          '@modelcontextprotocol': 'api/mcp',
          'rate-limiter-flexible': 'api/limits/redis-counters.ts',
          process: 'jobs',
          'node:process': 'jobs',
        },
      },
    ],
    'house/no-ambient-date': 'error',
    'house/comments': 'warn',
    'no-restricted-imports': [
      'error',
      {
        paths: [
          {
            name: 'node:crypto',
            importNames: ['randomUUID', 'randomBytes', 'randomInt', 'getRandomValues', 'webcrypto'],
            message: RANDOMNESS,
          },
          { name: 'node:perf_hooks', message: CLOCK },
          { name: 'uuid', importNames: ['v1', 'v4', 'v6', 'v7'], message: RANDOMNESS },
        ],
        patterns: [
          {
            regex: 'scoring/methodology\\.ts$',
            importNames: ['METHODOLOGY'],
            message: 'The method is passed in: only jobs/ names it.',
          },
        ],
      },
    ],
    'no-restricted-globals': ['error', { name: 'performance', message: CLOCK }],
    'no-restricted-properties': [
      'error',
      { object: 'Date', property: 'now', message: CLOCK },
      { object: 'Math', property: 'random', message: RANDOMNESS },
      { object: 'crypto', property: 'randomUUID', message: RANDOMNESS },
      { object: 'crypto', property: 'getRandomValues', message: RANDOMNESS },
      { object: 'process', property: 'env', message: 'Only jobs/ reads the environment: pass settings in.' },
      { object: 'process', property: 'exit', message: 'Only jobs/ ends the process.' },
    ],
  },
  overrides: [
    {
      files: ['pipeline/scoring/**'],
      rules: {
        'no-restricted-globals': ['error', ...IMPURE.map((name) => ({ name, message: PURE }))],
      },
    },
    // Names of files that nobody else sees.
    {
      files: ['pipeline/store/{creator,disk,mark,local-files}.ts'],
      rules: { 'no-restricted-imports': 'off' },
    },
    {
      files: ['jobs/**', 'clients/**', 'test/**', 'bench/**', 'examples/**', '.ci/**', '*.config.ts'],
      rules: {
        'no-restricted-imports': 'off',
        'no-restricted-globals': 'off',
        'no-restricted-properties': 'off',
        'house/no-ambient-date': 'off',
        'no-console': 'off',
      },
    },
    // Users of a package import one module.
    { files: ['clients/typescript/client.ts'], rules: { 'oxc/no-barrel-file': 'off' } },
    {
      files: ['test/**', 'bench/**', '*.config.ts'],
      rules: { 'house/arrows': 'off' },
    },
    // What visitors get as it is, and what is not part of the service.
    {
      files: [
        'api/pages/assets/**',
        'test/**',
        'bench/**',
        'examples/**',
        '.ci/**',
        '.oxlint/**',
        '*.config.ts',
      ],
      rules: { 'house/comments': 'off' },
    },
  ],
})
