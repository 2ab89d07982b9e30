// The functions of pipeline/proof/reader.ts, which the package holds as verify.js.

/** Throws an Error for a text that is no key. */
export function readKeys(vkeys: readonly string[]): Promise<unknown>

/** Throws an Error with the first thing that does not hold. */
export function verifyWith(body: Uint8Array, proof: string, vkeys: readonly string[]): Promise<unknown>

/** Throws an Error if a record is not the one that its address asks for. */
export function assertRecord(address: string, body: Uint8Array): void
