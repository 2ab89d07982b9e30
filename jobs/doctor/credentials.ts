// Checks the issued credentials against the settings for the next ones.
import { lastIssue, readIssue } from '../../pipeline/credentials/read.ts'
import { currentRelease } from '../../pipeline/release/read.ts'
import { settingName } from '../../schemas/config.ts'
import type { Components } from '../components/components.ts'
import { type Finding, fault, ok } from './finding.ts'

export async function checkCredentials({
  store,
  environment,
  credentialIssuer: issuer,
}: Pick<Components, 'store' | 'environment' | 'credentialIssuer'>): Promise<Finding[]> {
  const setting = settingName('CREDENTIAL_SIGNING_KEY', environment)
  const last = await lastIssue(store)
  const record = last === 0 ? undefined : await readIssue(store, last)
  const release = await currentRelease(store)
  const check = 'credentials'
  // Without issued credentials, a key and a release there should be some.
  if (!record) {
    if (!issuer || release === 0) return []
    return [
      fault(
        check,
        `${setting} is set, and none were issued`,
        'if there were any, copy credentials/ back from the backup first; then fvs release issues them',
      ),
    ]
  }
  // With issued credentials, the settings must lead on from them.
  if (!issuer) {
    return [
      fault(
        check,
        `issue ${last} has some, and ${setting} is not set: no title that is lost is revoked`,
        `set ${setting}`,
      ),
    ]
  }
  if (record.url !== issuer.url) {
    return [
      fault(
        check,
        `issue ${last} names ${record.url}, and PUBLIC_URL makes it ${issuer.url}: nobody finds their issuer there`,
        'set PUBLIC_URL to the address of before',
      ),
    ]
  }
  const keys = issuer.keys.map(({ multikey }) => multikey)
  const [signedBy] = record.keys
  if (!keys.includes(signedBy!)) {
    return [
      fault(
        check,
        `issue ${last} is signed by another key than ${setting}`,
        `set that key as ${setting}_PREVIOUS`,
      ),
    ]
  }
  // The last issue must be of the current release.
  const detail = `issue ${last} is of release ${record.release}`
  return [
    record.release < release
      ? fault(check, `${detail} of ${release}`, 'fvs release issues them, or says what stops it')
      : ok(check, detail),
  ]
}
