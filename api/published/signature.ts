// The signature of an answer, made when it is sent, with the secrets that are in force.

/** The header's value for the exact bytes of a body; undefined while signing is off. */
export type SignAnswer = (bytes: Uint8Array) => string | undefined

export function signatureHeader(signature: string | undefined): Record<string, string> {
  return signature === undefined ? {} : { 'X-Service-Signature': signature }
}
