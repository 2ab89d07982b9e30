// Bakes credentials into pictures, from which wallets and pages take them out again
// (https://www.imsglobal.org/spec/ob/v3p0#baked-badge).
import { pngChunk } from '../png-chunk.ts'

const NAMESPACE = 'https://purl.imsglobal.org/ob/v3p0'

/** A chunk of text with the keyword, uncompressed, without a language (PNG, 11.3.3.4). */
const KEYWORD = Buffer.from('openbadgecredential\0\0\0\0\0', 'latin1')

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
