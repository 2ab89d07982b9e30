// A pause before a node looks at its store for the first time.
import { type Recipe, before, replace } from './recipe.ts'

export const setting: Recipe = {
  names: { user: 'jobs/serve/environment-service' },
  files: {
    'schemas/config.ts': [
      before(
        '  KEY_CACHE_MS: integer(',
        `  FIRST_PROBE_MS: integer(0, 0, 600_000).describe(
    'how long a node waits before it looks at its store for the first time',
  ),
`,
      ),
    ],
    'jobs/serve/environment-service.ts': [
      replace('repeat(settings.PROBE_MS,', 'repeat(settings.PROBE_MS + settings.FIRST_PROBE_MS,'),
    ],
  },
}
