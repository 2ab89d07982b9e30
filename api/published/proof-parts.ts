// The parts by which others check what the node says: signatures, the public log, proofs and credentials; and
// the site, whose pages name the keys.
import type { Site } from '../pages/site.ts'
import type { Credentials } from './credentials.ts'
import type { ForecastProofs } from './forecast-proofs.ts'
import type { PayloadProofs } from './payload-proofs.ts'
import type { PublicLog } from './public-log.ts'
import type { SignAnswer } from './signature.ts'

export interface ProofParts {
  sign: SignAnswer
  publicLog: PublicLog
  payloadProofs: PayloadProofs
  credentials: Pick<Credentials, 'find' | 'issuedCredential' | 'statusList' | 'issuer'>
  forecastProofs: ForecastProofs
  /** The name, address and environment that all pages show. */
  site: Site
}
