// Credentials in pictures: they come out again as they went in, and the picture is as it was.
import { readdirSync, readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bakedPng, bakedSvg, credentialInPicture } from '../../pipeline/credentials/baking.ts'

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="20">\n<title>a badge</title>\n</svg>\n'

/** Any name, and those that would end the part of the picture that holds them. */
const names = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(']]>', '</svg>', '<![CDATA[', '\\]]>', '&amp;', ']]', ']>'),
  fc.array(fc.constantFrom(']', '>', '\\', 'a')).map((parts) => parts.join('')),
)

describe('an SVG', () => {
  test('has the credential directly in its root, before everything else', () => {
    expect(bakedSvg(SVG, '{"id":"a"}')).toBe(
      '<svg xmlns:openbadges="https://purl.imsglobal.org/ob/v3p0" xmlns="http://www.w3.org/2000/svg" width="20">\n' +
        '<openbadges:credential><![CDATA[{"id":"a"}]]></openbadges:credential>\n<title>a badge</title>\n</svg>\n',
    )
  })

  test('gives the same credential back, whatever its texts are', () => {
    fc.assert(
      fc.property(names, names, (name, other) => {
        const credential = { [name]: other, list: [[name]] }
        const baked = bakedSvg(SVG, JSON.stringify(credential))
        expect(JSON.parse(credentialInPicture(Buffer.from(baked))!)).toEqual(credential)
        expect(baked.endsWith('</openbadges:credential>\n<title>a badge</title>\n</svg>\n')).toBe(true)
      }),
    )
  })
})

/** The chunks of a PNG, whose sums must hold. */
function chunksOf(png: Uint8Array): { type: string; data: Buffer }[] {
  const bytes = Buffer.from(png)
  expect(bytes.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n')
  const chunks = []
  for (let at = 8; at < bytes.length;) {
    const end = at + 8 + bytes.readUInt32BE(at)
    expect(bytes.readUInt32BE(end)).toBe(crc32(bytes.subarray(at + 4, end)))
    chunks.push({ type: bytes.toString('latin1', at + 4, at + 8), data: bytes.subarray(at + 8, end) })
    at = end + 4
  }
  return chunks
}

describe('a PNG', () => {
  const folder = new URL('../../api/pages/assets/pictures/', import.meta.url)
  const pictures = readdirSync(folder).filter((name) => name.endsWith('.png'))

  test.each(pictures)('%s has one more chunk, which is the credential uncompressed', (name) => {
    const picture = readFileSync(new URL(name, folder))
    const credential = new TextEncoder().encode('{"name":"–"}')
    const [head, baked, ...others] = chunksOf(bakedPng(picture, credential))
    const data = Buffer.concat([Buffer.from('openbadgecredential\0\0\0\0\0'), credential])
    expect(baked).toEqual({ type: 'iTXt', data })
    expect(credentialInPicture(bakedPng(picture, credential))).toBe('{"name":"–"}')
    expect(credentialInPicture(picture)).toBeUndefined()
    expect([head, ...others]).toEqual(chunksOf(picture))
  })
})

test('no credential is in other files, nor in a picture that is cut off', () => {
  const head = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  for (const file of [
    SVG,
    '{"a":"<openbadges:credential><![CDATA[x]]>"}',
    '',
    head,
    Buffer.concat([head, head]),
  ])
    expect(credentialInPicture(Buffer.from(file))).toBeUndefined()
})
