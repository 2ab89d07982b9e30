// A certificate for 127.0.0.1, which is its own authority.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Certificate {
  key: Buffer
  cert: Buffer
  /** The file of the certificate. */
  path: string
}

export function certificateIn(folder: string): Certificate {
  const [key, path] = ['tls.key', 'tls.cert'].map((name) => join(folder, name)) as [string, string]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync(
    'openssl',
    ['req', '-x509', ...curve, '-days', '2', ...subject, '-keyout', key, '-out', path],
    {
      stdio: 'pipe',
    },
  )
  return { key: readFileSync(key), cert: readFileSync(path), path }
}
