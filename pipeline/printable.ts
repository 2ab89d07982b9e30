// Makes text from others safe to show: without characters that steer a terminal or hide something.

/** Control characters, and characters that change the direction of text or are invisible. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Escapes line ends and the characters that would steer a terminal. */
export function printable(text: string): string {
  return text.replaceAll(UNSEEN, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** Returns the JSON of a value, with escapes that a parser reads as the same characters. */
export function printableJson(value: unknown): string {
  return escapedJson(JSON.stringify(value))
}

/** Escapes the same characters in JSON text, but not the line feeds between its lines. */
export function escapedJson(text: string): string {
  return text.replaceAll(UNSEEN, (character) =>
    character === '\n'
      ? character
      : character
          .split('')
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          .join(''),
  )
}
