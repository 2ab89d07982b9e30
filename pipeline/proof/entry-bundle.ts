// A bundle of log entries (https://c2sp.org/tlog-tiles, "Log entries"): each entry follows its length, a
// big-endian uint16.
import { ServiceError } from '../../schemas/errors.ts'

const LENGTH_BYTES = 2
const LARGEST_ENTRY_BYTES = 0xffff

/** @throws ServiceError `invalid` for an entry of more than 65,535 bytes. */
export function bundleOf(entries: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(
    entries.flatMap((entry) => {
      if (entry.byteLength > LARGEST_ENTRY_BYTES) {
        throw new ServiceError(
          'invalid',
          `an entry has at most ${LARGEST_ENTRY_BYTES} bytes, not ${entry.byteLength}`,
        )
      }
      const length = Buffer.alloc(LENGTH_BYTES)
      length.writeUInt16BE(entry.byteLength)
      return [length, entry]
    }),
  )
}

/** @throws ServiceError `corrupt` for a bundle that ends inside an entry. */
export function entriesOf(bundle: Uint8Array): Uint8Array[] {
  const view = new DataView(bundle.buffer, bundle.byteOffset, bundle.byteLength)
  const entries: Uint8Array[] = []
  for (let at = 0; at < bundle.byteLength;) {
    const start = at + LENGTH_BYTES
    const end = start > bundle.byteLength ? Infinity : start + view.getUint16(at)
    if (end > bundle.byteLength) {
      throw new ServiceError(
        'corrupt',
        `a bundle of ${bundle.byteLength} bytes ends in entry ${entries.length}`,
      )
    }
    entries.push(bundle.subarray(start, end))
    at = end
  }
  return entries
}
