// `fvs tables`, which prints the version of each table.
import { type Recipe, after, before } from './recipe.ts'

export const command: Recipe = {
  names: { family: 'operator', command: 'tables' },
  files: {
    'jobs/operator/tables.ts': `// \`fvs tables\`.
import { currentVersions } from '../../pipeline/tables/delta-log.ts'
import type { Report } from '../command-line/output.ts'
import { type StoreOptions, onStore, storeCommand } from '../command-line/program.ts'
import type { Components } from '../components/components.ts'

export function addTables(): void {
  storeCommand('tables', 'Print the version of each table.').action((options: StoreOptions) =>
    onStore(options, 'reads', (components) => reportTables(components)),
  )
}

export async function reportTables({ store }: Components): Promise<Report> {
  const versions = Object.values(await currentVersions(store))
  const lines = versions.map(({ table, version }) => \`\${table} \${version}\`)
  return { ok: true, json: { tables: lines }, text: lines.join('\\n') }
}
`,
    'jobs/commands.ts': [
      after(
        `  people: async () => (await import('./operator/people.ts')).addPeople(),\n`,
        `  tables: async () => (await import('./operator/tables.ts')).addTables(),\n`,
      ),
    ],
    'docs/run.md': [before('- `fvs demo`: ', '- `fvs tables`: prints the version of each table\n')],
    'test/jobs/operator/tables.test.ts': `import { expect, test } from 'vitest'
import { reportTables } from '../../../jobs/operator/tables.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { Clock, testComponents } from '../../support/http/service.ts'

test('prints the version of each table', async () => {
  const clock = new Clock('2026-03-01T12:00:00.000Z')
  const components = await testComponents({ store: new MemoryStore(), clock })
  expect((await reportTables(components)).text).toMatch(/^questions -?\\d+\\n/)
})
`,
  },
}
