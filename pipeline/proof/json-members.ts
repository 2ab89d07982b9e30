// Finds the members of objects in the bytes of canonical JSON, so that a caller can take out a few without
// parsing all.
import { ServiceError } from '../../schemas/errors.ts'

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Visits each member of the object at `from`, whose names have no escapes: `visit` receives the name and the
 * start of the value, and returns the end of the value. Returns the end of the object.
 *
 * @throws ServiceError `corrupt` for bytes that end before it.
 */
export function eachMember(
  bytes: Buffer,
  from: number,
  visit: (name: string, value: number) => number,
): number {
  let at = from + 1
  for (let member = memberAt(bytes, at); member; member = memberAt(bytes, at)) {
    at = visit(member.name, member.value)
  }
  return at + 1
}

/**
 * Returns the member of an object that begins at `at`, or after the comma there, and where its value begins;
 * undefined at the end of the object.
 *
 * @throws ServiceError `corrupt` for bytes that end before it.
 */
export function memberAt(bytes: Buffer, at: number): { name: string; value: number } | undefined {
  if (bytes[at] === CLOSE_OBJECT) return undefined
  const nameStart = bytes[at] === COMMA ? at + 1 : at
  const nameEnd = endOfString(bytes, nameStart)
  return { name: bytes.toString('latin1', nameStart + 1, nameEnd - 1), value: nameEnd + 1 }
}

function endOfString(bytes: Uint8Array, from: number): number {
  let at = from + 1
  while (bytes[at] !== QUOTE) {
    if (at >= bytes.length) throw cutOff(bytes)
    at += bytes[at] === BACKSLASH ? 2 : 1
  }
  return at + 1
}

/** Returns the end of the value at `from`. @throws ServiceError `corrupt` for bytes that end before it. */
export function endOfValue(bytes: Uint8Array, from: number): number {
  let depth = 0
  for (let at = from; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at) - 1
        if (depth === 0) return at + 1
        break
      case OPEN_OBJECT:
      case OPEN_LIST:
        depth += 1
        break
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        // A number or a word ends with the object or the list around it.
        if (depth === 0) return at
        depth -= 1
        if (depth === 0) return at + 1
        break
      case COMMA:
        if (depth === 0) return at
        break
      default:
    }
  }
  throw cutOff(bytes)
}

function cutOff({ length }: Uint8Array): ServiceError {
  return new ServiceError('corrupt', `these ${length} bytes are not canonical JSON`)
}
