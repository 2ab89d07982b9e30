// Credentials in pictures: they come out again as they went in, and the picture is as it was.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bakedSvg, credentialInPicture } from '../../pipeline/credentials/baking.ts'

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

test('no credential is in other files', () => {
  for (const file of [SVG, '{"a":"<openbadges:credential><![CDATA[x]]>"}', '', '\x89PNG\r\n\x1a\n'])
    expect(credentialInPicture(Buffer.from(file, 'latin1'))).toBeUndefined()
})
