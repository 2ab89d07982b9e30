// Bakes credentials into pictures, and takes them out again as wallets and pages do
// (https://www.imsglobal.org/spec/ob/v3p0#baked-badge).
import { pngChunk } from '../png-chunk.ts'

const NAMESPACE = 'https://purl.imsglobal.org/ob/v3p0'

/** A chunk of text with the keyword, uncompressed, without a language (PNG, 11.3.3.4). */
const KEYWORD = Buffer.from('openbadgecredential\0\0\0\0\0', 'latin1')

const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

/** The signature and the first chunk, which always has 13 bytes of data. */
const PNG_HEAD_BYTES = 8 + 12 + 13

/** Returns the picture with a credential as its first element. It has to begin with `<svg `. */
export function bakedSvg(svg: string, credential: string): string {
  const start = svg.indexOf('>') + 1
  const tag = svg.slice(0, start).replace('<svg ', `<svg xmlns:openbadges="${NAMESPACE}" `)
  // Only texts hold these characters, where JSON has another way to write them.
  const json = credential.replaceAll(']]>', ']]\\u003e')
  const element = `<openbadges:credential><![CDATA[${json}]]></openbadges:credential>`
  return `${tag}\n${element}${svg.slice(start)}`
}

/** Returns the picture with a credential in its second chunk. */
export function bakedPng(png: Uint8Array, credential: Uint8Array): Uint8Array {
  const chunk = pngChunk('iTXt', Buffer.concat([KEYWORD, credential]))
  return Buffer.concat([png.subarray(0, PNG_HEAD_BYTES), chunk, png.subarray(PNG_HEAD_BYTES)])
}

/** Returns the JSON of the credential in a PNG or an SVG; undefined for every other file. */
export function credentialInPicture(file: Uint8Array): string | undefined {
  const bytes = Buffer.from(file)
  if (!bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) {
    const element = /^\s*<[^]*<openbadges:credential\b[^>]*>\s*<!\[CDATA\[([^]*?)\]\]>/
    return element.exec(bytes.toString())?.[1]
  }
  const head = Buffer.concat([Buffer.from('iTXt'), KEYWORD])
  for (let at = PNG_SIGNATURE.length; at + 8 <= bytes.length;) {
    const end = at + 8 + bytes.readUInt32BE(at)
    if (bytes.subarray(at + 4, at + 4 + head.length).equals(head))
      return bytes.toString('utf8', at + 4 + head.length, end)
    at = end + 4
  }
  return undefined
}
