// The functions of examples/verify.js, which the package holds as verify.js.

/** Throws an Error for a text that is no key. The type of a log is 1, and that of a witness 4. */
export function keyOf(vkey: string): Promise<{ name: string; type: number }>

/** Calls `step` with each thing that holds, and throws an Error with the first that does not. */
export function verifyProof(
  body: Uint8Array,
  proof: string,
  vkeys: readonly string[],
  step: (words: string) => void,
): Promise<void>

/** Throws an Error if a record is not the one that was asked for. */
export function assertAsked(
  members: object,
  asked: { mount: string; room: string; id: string; kind: string },
): void
