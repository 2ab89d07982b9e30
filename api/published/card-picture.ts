// Cards as PNG, because chats take no SVG.
import { Thread } from '../../pipeline/store/thread.ts'
import { type Card, cardSvg } from '../pages/cards/card.ts'

/** One thread for the whole process. */
const drawer = new Thread<string, Uint8Array>(new URL('../pages/cards/drawer.ts', import.meta.url))

/** @throws Error if the thread dies. */
export function cardPng(card: Card): Promise<Uint8Array> {
  return drawer.ask(cardSvg(card).text)
}
