// Fetches a record and its proof, and checks both and that it is the record at that address, such as
// https://…/agents/{agent_id}/verification: `node verify.js ADDRESS KEY…`. The service lets readers take it
// as one file without a dependency, which is built from this one.
import { boundedFetch } from '../pipeline/bounded-fetch.ts'
import { printable } from '../pipeline/printable.ts'
import { decoded } from '../pipeline/proof/canonical.ts'
import { identityOf, identityText, proofAddressOf, recordAt } from '../pipeline/proof/identity.ts'
import { assertRecord, stepsOf, verifyWith } from '../pipeline/proof/reader.ts'

async function fetched(address: string): Promise<Uint8Array> {
  const { status, bytes } = await boundedFetch(address)
  if (status === 200) return bytes
  throw new Error(`${address} answers ${status}`)
}

/** Calls `step` with each thing that holds. @throws Error with the first that does not. */
async function verifyRecord(
  address: string,
  vkeys: readonly string[],
  step: (words: string) => void,
): Promise<void> {
  if (vkeys.length === 0) throw new Error('give the address of a record, and the public key of the log')
  recordAt(address)
  const body = await fetched(address)
  const proofAddress = proofAddressOf(address, body)
  if (proofAddress === undefined) throw new Error('this is no record of a release')
  const found = await verifyWith(body, decoded(await fetched(proofAddress)), vkeys)
  stepsOf(found).forEach(step)
  assertRecord(address, body)
  const record = JSON.parse(decoded(body)) as { certification?: string; badge?: string }
  step(`it is the ${identityText(identityOf(record)).replace(/^(agent|forecaster)-/, '')}`)
  const award = record.certification ?? record.badge
  if (award !== undefined) step(award)
}

const [address = '', ...keys] = process.argv.slice(2)
const vkeys = keys.join(' ').split(/[\s,]+/)
verifyRecord(address, vkeys.filter(Boolean), (words) => {
  console.log(printable(words))
}).catch((error: unknown) => {
  console.error(printable(error instanceof Error ? error.message : String(error)))
  process.exitCode = 1
})
