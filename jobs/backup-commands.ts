// Declares the commands that keep a store safe: their arguments, and the function that runs each.
import {
  type GlobalOptions,
  type StoreOptions,
  command,
  finish,
  settingsFile,
  settingsFor,
  storeCommand,
} from './command-line.ts'

interface BackupOptions extends GlobalOptions {
  s3Endpoint?: string
}

const ENDPOINT = [
  '--s3-endpoint <url>',
  'the address of the S3-compatible server of the backup (default: S3_ENDPOINT)',
] as const

/** Adds `fvs backup`, `fvs restore` and `fvs doctor` to the program. */
export function addBackupCommands(): void {
  command('backup', 'Copy the store, with its sandbox, while the service runs; again, to copy what is new.')
    .argument('<to>', 'an empty place or an earlier backup: file:///folder or s3://bucket/prefix')
    .option(...ENDPOINT)
    .option('--compare', 'compare the bytes of all objects, and replace those of the backup that are damaged')
    .action(async (to: string, options: BackupOptions & { compare?: boolean }) => {
      const { runBackup } = await import('./backup.ts')
      const { s3Endpoint, compare = false } = options
      finish(
        await runBackup(settingsFor(options), to, { s3Endpoint, comparesAll: compare }, new Date()),
        options,
      )
    })

  command('restore', 'Copy a backup into an empty store, and check every byte.')
    .argument('<from>', 'the backup: file:///folder or s3://bucket/prefix')
    .option(...ENDPOINT)
    .action(async (from: string, options: BackupOptions) => {
      const { runRestore } = await import('./backup.ts')
      const { s3Endpoint } = options
      finish(await runRestore(settingsFor(options), from, { s3Endpoint }), options)
    })

  storeCommand(
    'doctor',
    'Check settings, secrets, the store, releases, the log and the backup; 1 if something must be done.',
  )
    .option('--backup <url>', 'the backup, to say how old it is: file:///folder or s3://bucket/prefix')
    .option(...ENDPOINT)
    .action(async (options: StoreOptions & BackupOptions & { backup?: string }) => {
      const { runDoctor } = await import('./doctor.ts')
      const { environment, backup, s3Endpoint } = options
      const about = { settingsFile: settingsFile(), backup, s3Endpoint }
      finish(await runDoctor(() => settingsFor(options), environment, about), options)
    })
}
