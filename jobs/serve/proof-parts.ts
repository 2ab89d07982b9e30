// The parts for checking the node's answers: signatures, the public log, proofs, credentials, and the site,
// whose pages name the keys.
import type { About } from '../../api/about.ts'
import type { Site } from '../../api/pages/site.ts'
import { Credentials } from '../../api/published/credentials.ts'
import { ForecastProofs } from '../../api/published/forecast-proofs.ts'
import { PayloadProofs } from '../../api/published/payload-proofs.ts'
import { PublicLog } from '../../api/published/public-log.ts'
import type { ReleaseFiles } from '../../api/published/release-files.ts'
import type { SignAnswer } from '../../api/published/signature.ts'
import { signatureOf } from '../../pipeline/proof/hmac.ts'
import { verifierKeyText } from '../../pipeline/proof/note-keys.ts'
import type { Settings } from '../../schemas/config.ts'
import type { Components } from '../components/components.ts'

export function proofParts(
  { environment, settings, store, secrets, signers, witnesses }: Components,
  files: ReleaseFiles,
) {
  const sign: SignAnswer = (bytes) => secrets && signatureOf(bytes, secrets)
  const publicLog = new PublicLog(
    store,
    signers.map(({ verifier }) => verifierKeyText(verifier)),
    witnesses.map(({ key }) => key),
  )
  const site: Site = {
    environment,
    publicUrl: settings.PUBLIC_URL,
    about: aboutOf(settings),
    logKeys: publicLog.vkeys,
  }
  return {
    sign,
    publicLog,
    payloadProofs: new PayloadProofs(files, publicLog),
    forecastProofs: new ForecastProofs(store, files, publicLog),
    credentials: new Credentials(store),
    site,
  }
}

function aboutOf(settings: Settings): About {
  return {
    serviceName: settings.SERVICE_NAME,
    operatorName: settings.OPERATOR_NAME,
    contactUrl: settings.CONTACT_URL,
    imprintUrl: settings.IMPRINT_URL,
    privacyUrl: settings.PRIVACY_URL,
    dataLicenceUrl: settings.DATA_LICENCE_URL,
  }
}
