// The public log of a test: its key, and the log of what the store has released.
import { signingKeyOf, signingKeyText, verifierKeyText } from '../../../pipeline/proof/note-keys.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { completeLog } from '../../../pipeline/transparency/publish.ts'

export const LOG_ORIGIN = 'fvs.example/forecasts'
const SEED = new Uint8Array(32).fill(7)
export const LOG_KEY = signingKeyOf(LOG_ORIGIN, 'log', SEED)
/** The same as a setting. */
export const LOG_SECRET = signingKeyText(LOG_ORIGIN, 'log', SEED)
export const LOG_VKEY = verifierKeyText(LOG_KEY.verifier)

/** Logs the releases of the store up to this one. */
export function writeLog(store: Store, releases: number): Promise<void> {
  return completeLog({ store, signers: [LOG_KEY], witnesses: [], log: () => undefined }, releases)
}
