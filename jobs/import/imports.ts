// `fvs imports`.
import { withDatabase } from '../../pipeline/duckdb.ts'
import { type ListedImport, listImports, undoImport } from '../../pipeline/import/undo.ts'
import { assertEnvironment } from '../../pipeline/release/state.ts'
import { type ImportId, textOfImport, importIdOf } from '../../pipeline/tables/import-id.ts'
import type { Components } from '../components/components.ts'
import { printable } from '../../pipeline/printable.ts'
import type { Report } from '../command-line/output.ts'
import { parseReason } from '../command-line/arguments.ts'
import { type StoreOptions, calledRightly, onStore, program, storeCommand } from '../command-line/program.ts'

export function addImports(): void {
  const imports = program.command('imports').description('See the imports of a store, and take one back.')
  storeCommand('list', 'List the imports, and those that are undone.', imports, { isDefault: true }).action(
    (options: StoreOptions) => onStore(options, 'reads', (components) => reportImports(components)),
  )
  storeCommand('undo', 'Make the rows of an import count for nothing from the next release on.', imports)
    .argument('<id>', 'its id, such as forecasts-17')
    .requiredOption('--reason <text>', 'why, for everyone to read in the next releases', parseReason)
    .action((text: string, options: StoreOptions & { reason: string }) => {
      const id = calledRightly(() => importIdOf(text))
      return onStore(options, 'writes', (components) => runUndo(components, id, options.reason))
    })
}

export async function reportImports({ store }: Components): Promise<Report> {
  const imports = (await listImports(store)).sort((a, b) => a.recordedAt.getTime() - b.recordedAt.getTime())
  return {
    ok: true,
    json: {
      imports: imports.map((one) => ({
        import_id: textOfImport(one),
        kind: one.table,
        rows: one.rows,
        recorded_at: one.recordedAt.toISOString(),
        file: one.record?.file ?? null,
        unchanged: one.record?.unchanged ?? null,
        undone_at: one.undone?.undone_at ?? null,
        reason: one.undone?.reason ?? null,
      })),
    },
    text: imports.length === 0 ? 'nothing was imported' : imports.map(importLine).join('\n'),
  }
}

function importLine(one: ListedImport): string {
  const { rows, recordedAt, record, undone } = one
  const file = record ? `, ${printable(record.file)}` : ''
  const state = undone ? `; undone ${undone.undone_at}: ${printable(undone.reason)}` : ''
  return `${textOfImport(one)}  ${recordedAt.toISOString()}  ${rows} ${rows === 1 ? 'row' : 'rows'}${file}${state}`
}

export async function runUndo(components: Components, id: ImportId, reason: string): Promise<Report> {
  const { manifest, begun } = await assertEnvironment(components)
  const released = begun?.tables ?? manifest?.tables ?? {}
  const undone = await withDatabase(components.openDatabase, (database) =>
    undoImport({ ...components, database, released }, id, reason),
  )
  return {
    ok: true,
    json: { import_id: textOfImport(id), ...undone },
    text: `${textOfImport(id)} is undone since ${undone.undone_at}: its rows (${undone.rows}) count for nothing from the next release on, which says why`,
  }
}
