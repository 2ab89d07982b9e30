// The commands of `fvs` by their first words, in the order of the help. Runs the called one.
import { CommanderError } from 'commander'
import { endWithReader, reportError } from './command-line/output.ts'
import { program } from './command-line/program.ts'

/**
 * Each function adds a command to the program, from the file with its arguments and its work. A call loads
 * only the file of its command, so that it starts sooner; help loads all of them.
 */
export const COMMANDS: Record<string, () => Promise<void>> = {
  serve: async () => (await import('./serve/serve.ts')).addServe(),
  release: async () => (await import('./release/release.ts')).addRelease(),
  stage: async () => (await import('./release/stage.ts')).addStage(),
  import: async () => (await import('./import/import.ts')).addImport(),
  'import-from': async () => (await import('./import/import-from.ts')).addImportFrom(),
  imports: async () => (await import('./import/imports.ts')).addImports(),
  people: async () => (await import('./operator/people.ts')).addPeople(),
  operator: async () => (await import('./operator/operator.ts')).addOperator(),
  webhooks: async () => (await import('./operator/webhooks.ts')).addWebhooks(),
  agents: async () => (await import('./agents/agents.ts')).addAgents(),
  keys: async () => (await import('./keys/keys.ts')).addKeys(),
  log: async () => (await import('./keys/signing-keys.ts')).addLog(),
  witness: async () => (await import('./monitor/witness.ts')).addWitness(),
  monitor: async () => (await import('./monitor/monitor.ts')).addMonitor(),
  credential: async () => (await import('./keys/signing-keys.ts')).addCredential(),
  sandbox: async () => (await import('./sandbox/sandbox.ts')).addSandbox(),
  backup: async () => (await import('./backup/backup.ts')).addBackup(),
  restore: async () => (await import('./backup/backup.ts')).addRestore(),
  doctor: async () => (await import('./doctor/doctor.ts')).addDoctor(),
  verify: async () => (await import('./verify/verify.ts')).addVerify(),
  audit: async () => (await import('./audit/audit.ts')).addAudit(),
  retention: async () => (await import('./release/retention.ts')).addRetention(),
  quarantine: async () => (await import('./release/quarantine.ts')).addQuarantine(),
  demo: async () => (await import('./demo/demo.ts')).addDemo(),
  mcp: async () => (await import('./mcp/mcp.ts')).addMcp(),
}

/** Adds the command that the arguments call, or all commands if they call none. */
async function addCalled(args: string[]): Promise<void> {
  const called = COMMANDS[program.parseOptions(args).operands[0] ?? '']
  if (called) return called()
  for (const add of Object.values(COMMANDS)) await add()
}

/** Runs a command, and leaves its exit code to the process. */
export async function runCommandLine(args: string[]): Promise<void> {
  endWithReader(process, () => process.exit())
  try {
    await addCalled(args)
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2
    } else {
      reportError(error, args.includes('--json'))
      process.exitCode = 1
    }
  }
}
