// Credentials of chosen entities, whatever titles they have.
import { EXAMPLE_HELD } from '../../../api/openapi/credential-examples.ts'
import { publishIssue } from '../../../pipeline/credentials/issue.ts'
import { credentialKeyText, parseCredentialKey } from '../../../pipeline/credentials/keys.ts'
import { readManifest } from '../../../pipeline/release/read.ts'
import type { Store } from '../../../pipeline/store/store.ts'

/** Gives an agent and a forecaster the facts of the examples, as the first issue of a store. */
export async function issueTo(store: Store, release: number, agentId: string, userId: string): Promise<void> {
  const { index: _agent, ...agent } = EXAMPLE_HELD.agent
  const { index: _forecaster, ...forecaster } = EXAMPLE_HELD.forecaster
  const { as_of, methodology_version, environment } = (await readManifest(store, release))!
  const url = 'https://forecasts.example.org'
  const issuer = { url, keys: [parseCredentialKey(credentialKeyText(new Uint8Array(32).fill(1)))] }
  const issued = { release, as_of, methodology_version, environment, url }
  await publishIssue(store, 0, undefined, issuer, issued, {
    agent: new Map([[agentId, agent]]),
    forecaster: new Map([[userId, forecaster]]),
  })
}
