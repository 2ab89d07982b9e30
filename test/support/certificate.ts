// A certificate for 127.0.0.1, and the file by which Java trusts it.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Certificate {
  key: Buffer
  cert: Buffer
  /** The options of Java that make it trust this certificate, and no other. */
  trust: string
}

export function certificateIn(folder: string, javaHome: string): Certificate {
  const [key, cert, store] = ['tls.key', 'tls.cert', 'tls.trust'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync(
    'openssl',
    ['req', '-x509', ...curve, '-days', '2', ...subject, '-keyout', key, '-out', cert],
    {
      stdio: 'pipe',
    },
  )
  const place = ['-keystore', store, '-storepass', 'changeit', '-storetype', 'PKCS12']
  execFileSync(join(javaHome, 'bin/keytool'), ['-importcert', '-noprompt', '-file', cert, ...place], {
    stdio: 'pipe',
  })
  const trust = `-Djavax.net.ssl.trustStore=${store} -Djavax.net.ssl.trustStorePassword=changeit`
  return { key: readFileSync(key), cert: readFileSync(cert), trust }
}
