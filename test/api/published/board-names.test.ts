// Names found by a text: against a search of each name alone, and in the order that readers expect.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BoardNames, nameLine } from '../../../api/published/board-names.ts'

const found = (names: readonly (string | null)[], text: string) =>
  new BoardNames(names.map(nameLine)).found(text).map((place) => names[place])

test('the whole name comes first, then names that begin with it, then the others, each in order of the board', () => {
  const names = ['my bot', 'bottom', null, 'Bot', 'bot 2', 'robot', 'BOT']
  expect(found(names, 'bot')).toEqual(['Bot', 'BOT', 'bottom', 'bot 2', 'my bot', 'robot'])
})

test.for([
  ['jose', 'José'],
  ['JOSÉ', 'jose'],
  ['Ａ', 'Ａ'],
  ['istanbul', 'İstanbul'],
  ['й', 'и'],
  ['가', '가나'],
] as const)('%s finds %s', ([text, name]) => {
  expect(found([name], text)).toEqual([name])
})

test.for([
  // A letter of Hangul is no part of another, and marks of Hindi tell words apart.
  ['가', '각'],
  ['कि', 'का'],
  ['', 'anna'],
  ['anna', null],
] as const)('“%s” does not find %s', ([text, name]) => {
  expect(found([name], text)).toEqual([])
})

test('an empty board has nobody', () => {
  expect(found([], 'anna')).toEqual([])
})

const name = fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'é', 'e', ' ', 'ß', 'И', '.', '*') })

test('finds what a search of each name alone finds, in three groups', () => {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .normalize('NFD')
      .replaceAll(/[\u0300-\u036f]/g, '')
  fc.assert(
    fc.property(fc.array(fc.option(name)), name, (names, text) => {
      const [sought, folded] = [plain(text), names.map((each) => plain(each ?? ''))]
      const places = folded.flatMap((each, place) => (sought !== '' && each.includes(sought) ? [place] : []))
      const group = (place: number) =>
        folded[place] === sought ? 0 : folded[place]!.startsWith(sought) ? 1 : 2
      const board = new BoardNames(names.map(nameLine))
      expect(board.found(text)).toEqual(places.toSorted((a, b) => group(a) - group(b) || a - b))
      for (const place of places) expect(board.isWhole(place, text)).toBe(group(place) === 0)
    }),
  )
})
