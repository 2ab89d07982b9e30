// The components of the pipeline. Each function picks those that it needs.
import type { Environment } from '../schemas/values.ts'
import type { Database } from './duckdb.ts'
import type { SigningSecrets } from './proof/hmac.ts'
import type { SigningKey } from './proof/note-keys.ts'
import type { Methodology } from './scoring/methodology.ts'
import type { LocalFiles } from './store/local-files.ts'
import type { Store } from './store/store.ts'

export interface PipelineComponents {
  environment: Environment
  store: Store
  /** Checked copies of the store's objects on this machine. */
  local: LocalFiles
  openDatabase: () => Promise<Database>
  /** No other call may use it at the same time. */
  database: Database
  /** For files on their way to the store. No other call may use it at the same time. */
  directory: string
  methodology: Methodology
  /** Undefined if signing is off. */
  secrets: SigningSecrets | undefined
  /**
   * The keys of the public log, the first to sign at the front; none without a log. All must have the same
   * name, the log's origin.
   */
  signers: readonly SigningKey[]
  /** The version of this software. */
  service: string
  log: (event: string, fields: object) => void
  /** How far the clock was ahead of the store's when the store was opened; undefined if unknown. */
  clockAheadMs: number | undefined
  now: () => Date
  /** Milliseconds of a clock that only goes forward. */
  monotonicMs: () => number
  wait: (ms: number) => Promise<void>
  /** A new version 7 UUID. */
  newId: () => string
}
