// Texts for pages that have nothing to show yet.
import { type Html, html } from './html.ts'
import { time } from './wording.ts'

export function nothingScored(nextReleaseAt: Date | undefined): Html {
  return html`Nothing has been scored yet. ${nextRelease(nextReleaseAt)}`
}

/** Returns nothing if this node does not know. */
export function nextRelease(at: Date | undefined): Html {
  return html`${at && html`The next release is due at ${time(at)} at the earliest.`}`
}
