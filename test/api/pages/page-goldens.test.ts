import fc from 'fast-check'
import { expect, test } from 'vitest'
import { differenceFrom } from '../../support/http/page-goldens.ts'

const page = fc.array(fc.constantFrom('', 'a', 'b', 'c'), { maxLength: 8 }).map((lines) => lines.join('\n'))

test('two pages never differ from a third in the same way', () => {
  fc.assert(
    fc.property(page, page, page, (whole, one, other) => {
      const isSame = differenceFrom(whole, one) === differenceFrom(whole, other)
      expect(isSame).toBe(one === other)
    }),
    { numRuns: 2000 },
  )
})

test('shows the new lines at their place, and how many they replace', () => {
  const whole = ['<h1>Record</h1>', '<p>Certified</p>', '<p>130 questions</p>', '</main>'].join('\n')
  expect(differenceFrom(whole, whole)).toBe('@@ 4 the same, to </main>; then -0\n')
  expect(differenceFrom(whole, whole.replace('Certified', 'Measured'))).toBe(
    '@@ 1 the same, to <h1>Record</h1>; then -1\n+<p>Measured</p>\n@@ 2 the same, to </main>; then -0\n',
  )
})
