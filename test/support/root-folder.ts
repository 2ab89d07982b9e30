// A root of its own for processes: a folder over the programs of this machine, as a container has it, without a container
// engine. It needs the rights of root.
import { execFile } from 'node:child_process'
import { cp, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { type Ended, RunningCommand } from './command.ts'

/** Undefined without the rights of root: `describe.skipIf(!canChangeRoot)`. */
export const canChangeRoot = process.getuid?.() === 0
if (!canChangeRoot) {
  if (process.env['CI'] === 'true') throw new Error('these tests need the rights of root')
  console.warn('skipped: a root of its own needs the rights of root')
}

export interface RootOptions {
  /** User and group; by default root. */
  user?: number
  /** The only variables. */
  env?: Record<string, string>
  directory?: string
  /** The folders that can be written, if nothing else can. */
  writable?: readonly string[]
  /** Folders of this machine, and where they are to be seen. */
  shown?: Readonly<Record<string, string>>
}

/** Mounts are seen by the command alone, and go with it. */
const ENTER = `
set -eu
root=$1 user=$2 directory=$3 writable=$4 shown=$5; shift 5
mount --bind "$root" "$root"
for each in $writable; do mount --bind "$root$each" "$root$each"; done
mount --bind -o ro /usr "$root/usr"
mount --bind "$root/local" "$root/usr/local"
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
for each in $shown; do mkdir -p "$root\${each#*:}"; mount --bind "\${each%%:*}" "$root\${each#*:}"; done
if [ -n "$writable" ]; then mount -o remount,ro,bind "$root"; fi
exec chroot "$root" /usr/bin/setpriv --reuid="$user" --regid="$user" --clear-groups --no-new-privs \\
  /usr/bin/env --chdir="$directory" "$@"`

export class RootFolder {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  static async make(path: string): Promise<RootFolder> {
    for (const each of [
      'usr',
      'local/bin',
      'dev',
      'proc',
      'tmp',
      'etc',
      'root',
      'run',
      'var/lib',
      'var/cache',
      'opt',
    ]) {
      await mkdir(join(path, each), { recursive: true })
    }
    for (const each of ['bin', 'sbin', 'lib', 'lib64']) await symlink(`usr/${each}`, join(path, each))
    const known = [
      'passwd',
      'group',
      'nsswitch.conf',
      'hosts',
      'resolv.conf',
      'ld.so.cache',
      'ssl',
      'alternatives',
    ]
    for (const each of known)
      await cp(join('/etc', each), join(path, 'etc', each), { recursive: true, verbatimSymlinks: true })
    return new RootFolder(path)
  }

  /** Starts a command. Call it inside a test: it ends with the test. */
  start(words: readonly string[], options?: RootOptions): RunningCommand {
    const command = this.#command(words, options)
    onTestFinished(async () => void (await command.stop('SIGKILL')))
    return command
  }

  /** Runs a command to its end. */
  run(words: readonly string[], options?: RootOptions): Promise<Ended> {
    return this.#command(words, options).ended
  }

  #command(
    words: readonly string[],
    { user = 0, env = {}, directory = '/', writable = [], shown = {} }: RootOptions = {},
  ): RunningCommand {
    const variables = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', ...env }
    const pairs = Object.entries(shown).map((pair) => pair.join(':'))
    const given = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
    const enter = [this.path, String(user), directory, writable.join(' '), pairs.join(' '), '-i', ...given]
    const unshare = ['--mount', '--propagation', 'private', 'sh', '-c', ENTER, 'sh', ...enter]
    return new RunningCommand('unshare', [...unshare, ...words])
  }
}

/** Copies files with their modes, as links to the same content where it is the same file system. */
export async function copyTree(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['--archive', '--link', from, to])
}
