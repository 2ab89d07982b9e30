// What the software of Digital Bazaar says of a credential, with its issuer's documents at hand.
import { DataIntegrityProof } from '@digitalbazaar/data-integrity'
import { cryptosuite } from '@digitalbazaar/eddsa-rdfc-2022-cryptosuite'
import { type Verified, verifyCredential } from '@digitalbazaar/vc'
import { checkStatus } from '@digitalbazaar/vc-bitstring-status-list'
import { type Secured } from '../../../pipeline/credentials/data-integrity.ts'
import { didDocument, issuerOf } from '../../../pipeline/credentials/documents.ts'
import { loadContext } from './contexts.ts'
import { ISSUE, KEY, statusList } from './samples.ts'

export interface Published {
  /** The keys in the document of the issuer of the samples, as Multikey. */
  multikeys?: readonly string[]
  /** The document of another issuer. */
  issuer?: ReturnType<typeof didDocument>
  list?: Secured
  now?: Date
}

const suite = new DataIntegrityProof({ cryptosuite })

/** Returns why a credential is refused; undefined if it is accepted. */
export async function refusal(credential: object, published: Published = {}): Promise<string | undefined> {
  const { multikeys = [KEY.multikey], list = statusList([]), now = new Date(ISSUE.as_of) } = published
  const { issuer = didDocument(issuerOf(ISSUE.url), multikeys) } = published
  const documents = new Map<unknown, object>([
    [issuer.id, issuer],
    [list.id, list],
    ...issuer.verificationMethod.map((method) => [method.id, method] as const),
  ])
  const documentLoader = async (url: string) => {
    const document = documents.get(url)
    return document ? { contextUrl: null, documentUrl: url, document } : loadContext(url)
  }
  const options = { suite, documentLoader, now }
  // It would check the list at the present time, and not at ours.
  const checked = await verifyCredential({ ...options, credential: list })
  if (!checked.verified) return `the status list: ${fault(checked)}`
  if (credential === list) return undefined
  const verified = await verifyCredential({
    ...options,
    credential,
    checkStatus: async (asked) => checkStatus({ ...asked, verifyBitstringStatusListCredential: false }),
  })
  if (!verified.verified) return fault(verified)
  // It reports what the bit says, and leaves the decision to its caller.
  return verified.statusResult?.results?.some(({ status }) => status) ? 'revoked' : undefined
}

function fault({ error, statusResult }: Verified): string {
  const found = error ?? statusResult?.error
  return [found?.message, ...(error?.errors ?? []).map(({ message }) => message)].join(': ')
}
