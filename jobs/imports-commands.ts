// The commands about imports that were made: `fvs imports` and `fvs imports undo`.
import { importIdOf } from '../pipeline/tables/import-id.ts'
import { reason } from './command-line/arguments.ts'
import { type StoreOptions, calledRightly, onStore, program, storeCommand } from './command-line/program.ts'

export function addImportsCommands(): void {
  const imports = program.command('imports').description('See the imports of a store, and take one back.')
  storeCommand('list', 'List the imports, and those that are undone.', imports, { isDefault: true }).action(
    (options: StoreOptions) =>
      onStore(options, 'reads', async (components) => {
        const { reportImports } = await import('./import/imports.ts')
        return reportImports(components)
      }),
  )
  storeCommand('undo', 'Make the rows of an import count for nothing from the next release on.', imports)
    .argument('<id>', 'its id, such as forecasts-17')
    .requiredOption('--reason <text>', 'why, for everyone to read in the next releases', reason)
    .action((text: string, options: StoreOptions & { reason: string }) => {
      const id = calledRightly(() => importIdOf(text))
      return onStore(options, 'writes', async (components) => {
        const { runUndo } = await import('./import/imports.ts')
        return runUndo(components, id, options.reason)
      })
    })
}
