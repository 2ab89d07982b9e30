// Quotes a wrong text in a message.
const SHOWN_CHARACTERS = 100

/** Returns the text as a JSON string, cut if it is long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text)
}
