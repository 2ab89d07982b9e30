// Declares the commands that keep a store safe: their arguments, and the function that runs each.
import type { OtherPlace } from './components/backup-place.ts'
import {
  type GlobalOptions,
  type StoreOptions,
  command,
  finish,
  settingsFile,
  settingsFor,
  storeCommand,
} from './command-line/program.ts'

interface BackupOptions extends GlobalOptions {
  s3Endpoint?: string
  s3Profile?: string
}

const ENDPOINT = [
  '--s3-endpoint <url>',
  'the address of the S3-compatible server of the backup (default: S3_ENDPOINT)',
] as const
const PROFILE = [
  '--s3-profile <name>',
  'the profile of ~/.aws with the credentials of the backup (default: those of the store)',
] as const

const otherPlace = ({ s3Endpoint, s3Profile }: BackupOptions): OtherPlace => ({ s3Endpoint, s3Profile })

/** Adds `fvs backup`, `fvs restore` and `fvs doctor` to the program. */
export function addBackupCommands(): void {
  command('backup', 'Copy the store, with its sandbox, while the service runs; again, to copy what is new.')
    .argument('<to>', 'an empty place or an earlier backup: file:///folder or s3://bucket/prefix')
    .option(...ENDPOINT)
    .option(...PROFILE)
    .option('--compare', 'compare the bytes of all objects, and replace those of the backup that are damaged')
    .action(async (to: string, options: BackupOptions & { compare?: boolean }) => {
      const { runBackup } = await import('./backup/backup.ts')
      const how = { ...otherPlace(options), comparesAll: options.compare ?? false }
      finish(await runBackup(settingsFor(options), to, how, new Date()), options)
    })

  command('restore', 'Copy a backup into an empty store, and check every byte.')
    .argument('<from>', 'the backup: file:///folder or s3://bucket/prefix')
    .option(...ENDPOINT)
    .option(...PROFILE)
    .action(async (from: string, options: BackupOptions) => {
      const { runRestore } = await import('./backup/backup.ts')
      finish(await runRestore(settingsFor(options), from, otherPlace(options)), options)
    })

  storeCommand(
    'doctor',
    'Check settings, secrets, the store, releases, the log and the backup; 1 if something must be done.',
  )
    .option('--backup <url>', 'the backup, to say how old it is: file:///folder or s3://bucket/prefix')
    .option(...ENDPOINT)
    .option(...PROFILE)
    .action(async (options: StoreOptions & BackupOptions & { backup?: string }) => {
      const { runDoctor } = await import('./doctor/doctor.ts')
      const { environment, backup } = options
      const about = { settingsFile: settingsFile(), backup, ...otherPlace(options) }
      finish(await runDoctor(() => settingsFor(options), environment, about), options)
    })
}
