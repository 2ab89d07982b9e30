// A wrong text as a message shows it.
const SHOWN_CHARACTERS = 100

/** The text as a JSON string, cut where it is long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text)
}
