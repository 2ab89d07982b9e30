// The commands of pages that check a record in a shell. They run nothing but the verifier that the service
// itself serves, and nothing that a registry of packages has under some name.
import { VERIFIERS } from './assets.ts'
import { type Site, commandAddress } from './site.ts'

const PROGRAMS = { 'verify.py': 'python3', 'verify.js': 'node' }

/** Returns the lines that take a verifier, compare it with its hash, and run it on the record at a path. */
export function verifierCommands(site: Site, file: keyof typeof VERIFIERS, recordPath: string): string[] {
  const { path, sha256 } = VERIFIERS[file]
  return [
    `curl -s -o ${file} "${commandAddress(site, path)}"`,
    `echo '${sha256}  ${file}' | sha256sum -c &&`,
    `  ${PROGRAMS[file]} ${file} "${commandAddress(site, recordPath)}" "$LOG_VKEY"`,
  ]
}
