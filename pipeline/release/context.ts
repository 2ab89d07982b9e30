// What a release is made with.
import type { Environment } from '../../schemas/values.ts'
import type { Database } from '../duckdb.ts'
import type { SigningSecrets } from '../proof/hmac.ts'
import type { Methodology } from '../scoring/methodology.ts'
import type { CompactionContext } from '../tables/compact.ts'

export interface ReleaseContext extends Omit<CompactionContext, 'database'> {
  openDatabase: () => Promise<Database>
  /** By which releases are scored. */
  methodology: Methodology
  environment: Environment
  /** Undefined: signing is off. */
  secrets: SigningSecrets | undefined
  /** The version of this software. */
  service: string
  log: (event: string, fields: object) => void
}
