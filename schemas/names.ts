// The rules for names and for prose. People give names to agents, models, organizations, forecasters, owners
// and questions. A reader must see all of a name, so no name may look empty or like another one. The rule for
// prose is milder.
import { z } from 'zod'

export const NAME_CHARACTERS = 200
export const PROSE_CHARACTERS = 20_000

/**
 * An emoji by UTS #51, in which joiners, selectors and tags are allowed. Tags make only the known flags, and
 * a digit is an emoji only together with its keycap, so that nothing hides behind either.
 */
const EMOJI =
  /\p{RGI_Emoji_Tag_Sequence}|[\p{Extended_Pictographic}--\p{Cn}][\ufe0e\ufe0f]?\p{Emoji_Modifier}?(?:\u200d[\p{Extended_Pictographic}--\p{Cn}]\ufe0f?\p{Emoji_Modifier}?)*|\p{RGI_Emoji}/gv
/**
 * The signs of Indic scripts that join two letters to one (Canonical_Combining_Class 9 in scripts of today).
 * JavaScript knows no such class.
 */
const VIRAMA =
  '\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d3b\\u0d3c\\u0d4d\\u0dca\\u1039\\u103a\\u17d2\\u1a60\\u1b44\\u1baa\\u1bab' +
  '\\ua806\\ua8c4\\ua953\\ua9c0\\uaaf6\\uabed\\u{11133}\\u{11134}\\u{1134d}\\u{11442}\\u{114c2}'
/** Letters that change their form beside each other, with their marks, in scripts of today. */
const CURSIVE =
  '[[\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Mandaic}\\p{Script=Mongolian}\\p{Script=Nko}\\p{Script=Adlam}\\p{Script=Hanifi_Rohingya}\\p{Script=Inherited}]&&[\\p{L}\\p{M}]]'
/**
 * A joiner with a visible effect, by UAX #31, 2.3: U+200C and U+200D beside a virama, and U+200C between
 * cursive letters, as Persian needs it. Elsewhere it would be invisible.
 */
const JOINER = new RegExp(
  `(?<=[\\p{L}\\p{M}])[\\u200c\\u200d](?=[${VIRAMA}])|(?<=[\\p{L}\\p{M}][${VIRAMA}])[\\u200c\\u200d](?=[\\p{L}\\p{M}])|(?<=${CURSIVE})\\u200c(?=${CURSIVE})`,
  'gv',
)
/**
 * Control, format, private-use and unassigned characters, and all other invisible ones: default-ignorable
 * characters, the separators U+2028 and U+2029, and the empty pattern of Braille.
 */
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800]/u
const NOT_NFC =
  'must be in the Unicode normalization form NFC, which writes a letter and its accent as one character'
const LETTER_OR_DIGIT = /[\p{L}\p{Nd}]/u

/** Returns the fault of a name as a predicate, "must …"; undefined if it has none. */
export function nameFault(text: string): string | undefined {
  const fault = idFault(text)
  if (fault !== undefined) return fault
  // The invisible fillers of Hangul, which are letters, have been refused by now.
  return LETTER_OR_DIGIT.test(text) ? undefined : 'must have at least one letter or digit'
}

/**
 * Returns the fault of an id that may be any text: it follows the rule for names, but needs no letter and no
 * digit.
 */
export function idFault(text: string): string | undefined {
  if (text === '') return 'must not be empty'
  if (!text.isWellFormed()) return 'must be well-formed Unicode, and has half of a surrogate pair'
  if (text.normalize('NFC') !== text) return NOT_NFC
  // The search for emoji is slow: run it only for a name with a character that is allowed in emoji or between
  // some letters.
  const unseen = UNSEEN.test(text) && UNSEEN.exec(text.replace(EMOJI, ' ').replace(JOINER, ''))?.[0]
  if (unseen) {
    return `must not have the character ${codeOf(unseen)}, a control, format, private-use, unassigned or invisible one`
  }
  return undefined
}

/** The beginning of the ids of proved domains. Nobody may assign such an id. */
export const DOMAIN_OWNER = 'domain:'

/** White space by Unicode. */
const WHITE_SPACE = /[\t-\r\u0085\p{Z}]+/gu

/**
 * Returns the normal form of a text that identifies something in several rows, such as a person or an event:
 * in NFC, without white space around it, and with single spaces inside.
 */
export function normalKey(text: string): string {
  return text.normalize('NFC').replace(WHITE_SPACE, ' ').replace(/^ | $/g, '')
}

/** Control characters except the tab and the line feed, halves of surrogate pairs, and noncharacters. */
const NOT_PROSE = /(?![\t\n])[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u

/**
 * Returns the fault of a text of many lines as a predicate, "must …"; undefined if it has none. Prose names
 * nothing, so people may write it as they like: it refuses only characters that belong in no text.
 */
export function proseFault(text: string): string | undefined {
  const wrong = NOT_PROSE.exec(text)?.[0]
  if (wrong === '\r') return 'must end its lines with a line feed alone, not with U+000D'
  if (wrong !== undefined) {
    return `must not have the character ${codeOf(wrong)}, a control character or no character at all`
  }
  return text.normalize('NFC') === text ? undefined : NOT_NFC
}

const ALL_UNSEEN = new RegExp(UNSEEN, 'gu')

/**
 * Turns a text into a name: in NFC, on one line, with single spaces, and without invisible characters. An
 * emoji may fall apart into its parts. The result may be empty.
 */
export function nameFrom(text: string): string {
  const seen = normalKey(text.toWellFormed())
  return nameFault(seen) === undefined ? seen : normalKey(seen.replace(ALL_UNSEEN, ''))
}

const ALL_NOT_PROSE = new RegExp(NOT_PROSE, 'gu')

/**
 * Turns a text into prose: in NFC, with a line feed alone at each line's end, and without control characters.
 */
export function proseFrom(text: string): string {
  const lines = text.toWellFormed().replace(/\r\n?/g, '\n')
  return lines.replace(ALL_NOT_PROSE, '').normalize('NFC')
}

/** Text of many lines with at most this many characters, in the form of `proseFrom`. */
export function prose(characters: number) {
  return z
    .string()
    .min(1, 'must not be empty')
    .refine((text) => Array.from(text).length <= characters, `must have at most ${characters} characters`)
    .transform(proseFrom)
    .meta({ maxLength: characters })
}

/** Writes a character as `U+200B`. */
function codeOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}

/**
 * The part of the rule that a pattern can express in every dialect: the characters of the Basic Multilingual
 * Plane.
 */
const UNSEEN_RANGES =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u200e\\u200f' +
  '\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ue000-\\uf8ff\\ufdd0-\\ufdef\\ufe00-\\ufe0d\\ufeff\\uffa0\\ufff0-\\ufffb\\ufffe\\uffff'
/** Allowed characters, visible or not, that are neither letters nor digits. */
const PLAIN_RANGES =
  '\\u0020-\\u002f\\u003a-\\u0040\\u005b-\\u0060\\u007b-\\u007e\\u00a0\\u1680\\u2000-\\u200d\\u202f\\u205f\\u3000\\ufe0e\\ufe0f'
export const NAME_PATTERN = `^[^${UNSEEN_RANGES}]*[^${UNSEEN_RANGES}${PLAIN_RANGES}][^${UNSEEN_RANGES}]*$`

export const name = z
  .string()
  // JSON Schema counts characters and not UTF-16 units.
  .refine((text) => Array.from(text).length <= NAME_CHARACTERS, {
    error: `must have at most ${NAME_CHARACTERS} characters`,
    abort: true,
  })
  .superRefine((text, context) => {
    const fault = nameFault(text)
    if (fault !== undefined) context.addIssue(fault)
  })
  .meta({
    minLength: 1,
    maxLength: NAME_CHARACTERS,
    pattern: NAME_PATTERN,
    description:
      'Unicode text in NFC, without control, format, private-use, unassigned and invisible characters, and with at least one ' +
      'letter or digit. Joiners may stand in emoji, and between letters of scripts that need them',
  })
