// A small writer of zip archives, honest or not.
import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipLies {
  /** The size that the archive says each member has when it is unpacked. */
  sizeBytes?: number
  /** The number of members that the archive says it has. */
  members?: number
}

/** Returns an archive of members by their paths. */
export function zipOf(members: Record<string, string | Uint8Array>, lies: ZipLies = {}): Buffer {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [path, content] of Object.entries(members)) {
    const bytes = Buffer.from(content)
    const packed = deflateRawSync(bytes)
    const name = Buffer.from(path)
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(8, 4)
    fields.writeUInt32LE(crc32(bytes), 10)
    fields.writeUInt32LE(packed.length, 14)
    fields.writeUInt32LE(lies.sizeBytes ?? bytes.length, 18)
    fields.writeUInt16LE(name.length, 22)
    files.push(Buffer.from('PK\x03\x04', 'latin1'), fields, name, packed)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), fields, place, name)
    offset += 30 + name.length + packed.length
  }
  const listed = Buffer.concat(directory)
  const count = lies.members ?? Object.keys(members).length
  const end = Buffer.alloc(18)
  end.writeUInt16LE(count, 4)
  end.writeUInt16LE(count, 6)
  end.writeUInt32LE(listed.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...files, listed, Buffer.from('PK\x05\x06', 'latin1'), end])
}
