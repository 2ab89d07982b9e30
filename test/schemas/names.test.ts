// Names: which are refused as deceiving, by the one rule that registrations, imports and keys share, and by
// the pattern.
import fc from 'fast-check'
import { expect, describe, test } from 'vitest'
import { NAME_PATTERN, name, nameFault } from '../../schemas/names.ts'

const pattern = new RegExp(NAME_PATTERN, 'u')
const codes = (text: string) =>
  Array.from(text, (character) => `U+${character.codePointAt(0)!.toString(16).toUpperCase()}`).join(' ')

describe('a name is taken', () => {
  test.for([
    ['of letters', 'Ada Lovelace'],
    ['of one digit', '7'],
    ['with accents', 'Ada Löbel-Ångström'],
    ['with marks of every kind', 'R&D / “forecasts” (v2.1) — 100 % + €'],
    ['with spaces of other kinds', 'a\u00a0b\u3000c\u2009d'],
    ['in Japanese', '日本語の名前'],
    ['in Hebrew, from the right', 'שלום'],
    ['in Arabic with marks', 'مُحَمَّد'],
    ['in Persian with a non-joiner', 'می\u200cخواهم'],
    ['in Hindi with a joiner', 'क्\u200dष'],
    ['in Hindi with vowel signs', 'हिन्दी में'],
    ['in Bengali with a joiner before a sign', 'র\u200d্য'],
    ['in Sinhala', 'ශ්\u200dරී ලංකා'],
    ['in Marathi with a joiner after a virama', 'दर्\u200dया'],
    ['in Kannada with a joiner before a virama', 'ರ\u200d್ಕ'],
    ['in Malayalam with a non-joiner', 'ക്\u200cഷ'],
    ['in Urdu with a non-joiner after a mark', 'آبِ\u200cحیات'],
    ['in Rohingya', '𐴌\u200c𐴟'],
    ['in Thai', 'ภาษาไทย'],
    ['in Korean', '한국어'],
    ['beyond the basic plane', '𐐷𐐲𐑌'],
    ['with an emoji', 'fox 🦊'],
    ['with a family', 'us 👨\u200d👩\u200d👧\u200d👦'],
    ['with an emoji of a skin', 'x 👩🏽\u200d💻'],
    ['with a flag of letters', 'x 🇩🇪'],
    ['with a rainbow flag', 'x 🏳\ufe0f\u200d🌈'],
    ['with a flag of tags', 'x 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
    ['with a heart in colour', 'x ❤\ufe0f'],
    ['with a telephone as text', 'x ☎\ufe0e'],
    ['with a keycap', '1\ufe0f\u20e3'],
  ] as const)('%s: %s', ([, text]) => {
    expect(nameFault(text), codes(text)).toBeUndefined()
    expect(pattern.test(text)).toBe(true)
  })
})

describe('a name is refused', () => {
  test.for([
    ['an empty one', '', /must not be empty/],
    ['a space', ' ', /at least one letter or digit/],
    ['spaces of many kinds', ' \u00a0\u2003\u3000', /at least one letter or digit/],
    ['hyphens', '---', /at least one letter or digit/],
    ['an emoji alone', '🦊', /at least one letter or digit/],
    ['an accent alone', '\u0301', /at least one letter or digit/],
    ['half a character', 'a\ud800', /well-formed/],
    ['an accent apart from its letter', 'Lo\u0308bel', /NFC/],
    ['the sign of the kelvin', '5 \u212a', /NFC/],
    ['a null', 'a\u0000b', /U\+0000/],
    ['a line break', 'a\nb', /U\+000A/],
    ['a delete', 'a\u007f', /U\+007F/],
    ['a next line', 'a\u0085b', /U\+0085/],
    ['a control sequence introducer', 'a\u009b31mb', /U\+009B/],
    ['a soft hyphen', 'a\u00adb', /U\+00AD/],
    ['a grapheme joiner', 'a\u034fb', /U\+034F/],
    ['an Arabic letter mark', 'a\u061cb', /U\+061C/],
    ['a zero width space alone', '\u200b', /U\+200B/],
    ['a zero width space', 'a\u200bb', /U\+200B/],
    ['a mark of direction', 'a\u200fb', /U\+200F/],
    ['an override of direction', 'a\u202ecod', /U\+202E/],
    ['an isolate', 'a\u2066b', /U\+2066/],
    ['a line separator', 'a\u2028b', /U\+2028/],
    ['a paragraph separator', 'a\u2029b', /U\+2029/],
    ['a word joiner', 'a\u2060b', /U\+2060/],
    ['a blank of Braille alone', '\u2800', /U\+2800/],
    ['a blank of Braille', 'a\u2800b', /U\+2800/],
    ['a filler of Hangul', '\u3164', /U\+3164/],
    ['a leading filler of Hangul', 'a\u115f', /U\+115F/],
    ['a half-width filler of Hangul', 'a\uffa0', /U\+FFA0/],
    ['a vowel separator of Mongolian', 'a\u180eb', /U\+180E/],
    ['a byte order mark', '\ufeffa', /U\+FEFF/],
    ['private use', 'a\ue000', /U\+E000/],
    ['private use beyond the basic plane', 'a\u{f0000}', /U\+F0000/],
    ['no character', 'a\uffff', /U\+FFFF/],
    // Reserved for an emoji, so that a later version of Unicode may assign it.
    ['an unassigned character', 'a\u{1faff}', /U\+1FAFF/],
    ['tags', 'a\u{e0041}\u{e0042}', /U\+E0041/],
    ['tags after a flag that are no region', 'a 🏴\u{e0041}\u{e007f}', /U\+E0041/],
    ['a joiner at the end', 'a\u200d', /U\+200D/],
    ['a joiner at the beginning', '\u200da', /U\+200D/],
    ['two joiners', 'a\u200d\u200cb', /U\+200/],
    ['a joiner between Latin letters', 'a\u200db', /U\+200D/],
    ['a non-joiner between Latin letters', 'a\u200cb', /U\+200C/],
    ['a joiner between Cyrillic letters', 'и\u200dв', /U\+200D/],
    ['a joiner between Han characters', '日\u200d本', /U\+200D/],
    ['a joiner between Arabic letters', 'م\u200dی', /U\+200D/],
    ['a joiner between Hindi letters', 'क\u200dष', /U\+200D/],
    ['a non-joiner between Hindi letters', 'क\u200cष', /U\+200C/],
    ['a joiner after a virama at the end', 'क्\u200d', /U\+200D/],
    ['a joiner after a virama before Latin', 'क्\u200d ष', /U\+200D/],
    ['two joiners after a virama', 'क्\u200d\u200dष', /U\+200D/],
    ['a joiner between digits', '1\u200d2', /U\+200D/],
    ['a joiner between a letter and an emoji', 'a\u200d🦊', /U\+200D/],
    ['a joiner that an emoji hides', 'a🦊\u200db', /U\+200D/],
    ['a joiner after an emoji', 'a 🦊\u200d', /U\+200D/],
    ['a selector after a letter', 'a\ufe0f', /U\+FE0F/],
    ['a selector after a digit', '1\ufe0f', /U\+FE0F/],
    ['two selectors', 'a ❤\ufe0f\ufe0f', /U\+FE0F/],
    ['a selector of ideographs', '葛\u{e0101}', /U\+E0101/],
  ] as const)('for %s', ([, text, why]) => {
    expect(nameFault(text), codes(text)).toMatch(why)
    expect(name.safeParse(text).success).toBe(false)
  })
})

describe('a joiner', () => {
  const letter = fc
    .integer({ min: 0x41, max: 0x2ffff })
    .map((code) => (code >= 0xd800 && code <= 0xdfff ? 'a' : String.fromCodePoint(code)))
    .filter((character) => /\p{L}/u.test(character) && nameFault(`a${character}`) === undefined)

  test('stands between no two letters but cursive ones, which it may part', () => {
    const cursive =
      /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mandaic}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Adlam}\p{Script=Hanifi_Rohingya}]/u
    const property = fc.property(letter, letter, (before, after) => {
      expect(nameFault(`${before}\u200d${after}`), codes(before + after)).toMatch(/U\+200D|NFC/)
      const mayPart = cursive.test(before) && cursive.test(after)
      if (!mayPart) expect(nameFault(`${before}\u200c${after}`), codes(before + after)).toMatch(/U\+200C|NFC/)
    })
    fc.assert(property, { seed: 1, numRuns: 5000 })
  })

  test('is refused wherever it is put into a name of such letters', () => {
    const text = fc
      .array(letter, { minLength: 1, maxLength: 8 })
      .map((letters) => letters.join('').normalize('NFC'))
    const property = fc.property(text, fc.nat(), (without, at) => {
      const characters = Array.from(without)
      const index = at % (characters.length + 1)
      const marked = [...characters.slice(0, index), '\u200d', ...characters.slice(index)].join('')
      expect(nameFault(marked), codes(marked)).toBeDefined()
    })
    fc.assert(property, { seed: 1, numRuns: 5000 })
  })
})

/** Joiners and selectors. */
const ALLOWED_SOMEWHERE = [0x200c, 0x200d, 0xfe0e, 0xfe0f]

describe('the pattern of the document', () => {
  test('refuses no name that the rule takes, in the whole basic plane', () => {
    const wrong: string[] = []
    for (let code = 0; code <= 0xffff; code++) {
      const text = `a${String.fromCharCode(code)}`
      if (nameFault(text) === undefined && !pattern.test(text)) wrong.push(codes(text))
      const alone = String.fromCharCode(code)
      if (nameFault(alone) === undefined && !pattern.test(alone)) wrong.push(codes(alone))
    }
    expect(wrong).toEqual([])
  })

  test('refuses what the rule refuses as unseen in the basic plane, but for joiners, selectors and what is unassigned', () => {
    const missed: string[] = []
    for (let code = 0; code <= 0xffff; code++) {
      const character = String.fromCharCode(code)
      if (ALLOWED_SOMEWHERE.includes(code) || /[\p{Cs}\p{Cn}]/u.test(character)) continue
      const text = `a${character}`
      if (nameFault(text)?.startsWith('must not have') && pattern.test(text)) missed.push(codes(text))
    }
    expect(missed).toEqual([])
  })
})
