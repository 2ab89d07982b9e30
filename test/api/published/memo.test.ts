// What was made of an answer's source is kept once it is asked for again.
import { expect, test } from 'vitest'
import { Memo } from '../../../api/published/memo.ts'

const [ONE, OTHER] = [Symbol('one'), Symbol('other')]

test('what is asked for twice is kept from then on, each under its key', () => {
  const memo = new Memo()
  let made = 0
  const make = () => ({ made: (made += 1) })
  const asked = [ONE, OTHER, ONE, ONE, OTHER, OTHER, ONE].map((key) => memo.of(key, make).made)
  // The first of each key is made for that call alone.
  expect(asked).toEqual([1, 2, 3, 3, 4, 4, 3])
})

test('what is kept in one memo is not in another', () => {
  const [first, second] = [new Memo(), new Memo()]
  for (let call = 0; call < 3; call += 1) first.of(ONE, () => ['first'])
  expect(second.of(ONE, () => ['second'])).toEqual(['second'])
})
