// Takes the files out of a zip archive, within bounds. No path of the archive becomes a path on this machine.
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Entry, type ZipFile, openPromise } from 'yauzl'
import { ServiceError } from '../../schemas/errors.ts'
import { MOST_INPUT_BYTES, bounded } from './input.ts'

export interface ZipMember {
  /** The name in the archive without its folders, for messages. */
  name: string
  /** The copy on this machine. */
  path: string
}

const MOST_MEMBERS = 1_000
const SIGNATURE = 'PK\x03\x04'

/** Whether a file is a zip archive. */
export async function isZip(path: string): Promise<boolean> {
  for await (const chunk of createReadStream(path, { end: 3 })) {
    return (chunk as Buffer).toString('latin1') === SIGNATURE
  }
  return false
}

/**
 * Copies the members whose name ends in one of `endings` into the folder `directory`.
 *
 * @throws ServiceError `invalid` for an archive that is damaged, is encrypted, has too many members, or holds
 *   more than `mostBytes` when unpacked.
 */
export async function unzip(
  archive: string,
  directory: string,
  endings: readonly string[],
  mostBytes = MOST_INPUT_BYTES,
): Promise<ZipMember[]> {
  const members: ZipMember[] = []
  try {
    const zip = await openPromise(archive)
    let left = mostBytes
    for await (const entry of zip.eachEntry()) {
      if (zip.entryCount > MOST_MEMBERS) {
        throw new ServiceError(
          'invalid',
          `${archive} has ${zip.entryCount} members, more than ${MOST_MEMBERS}`,
        )
      }
      const name = entry.fileName.split('/').at(-1)!
      const ending = endings.find((one) => name.toLowerCase().endsWith(one))
      if (ending === undefined) continue
      const path = join(directory, `member-${members.length}${ending}`)
      left -= await copy(zip, entry, path, archive, left)
      members.push({ name, path })
    }
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ServiceError('invalid', `${archive} cannot be unpacked: ${reason}`, { cause })
  }
  return members
}

/** Copies a member and returns its size. The bytes are counted, because an archive may lie about its size. */
async function copy(
  zip: ZipFile,
  entry: Entry,
  path: string,
  archive: string,
  mostBytes: number,
): Promise<number> {
  const from = await zip.openReadStreamPromise(entry)
  await pipeline([from, bounded(archive, mostBytes), createWriteStream(path)])
  return entry.uncompressedSize
}
