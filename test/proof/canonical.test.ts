// The canonical form of an object put together from canonical parts.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalObject, canonicalText } from '../../pipeline/proof/canonical.ts'

test('canonicalObject gives the canonical text of the whole', () => {
  const names = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('10', '9', 'é', '\u{10000}', '\uffff', '"'),
  )
  fc.assert(
    fc.property(fc.dictionary(names, fc.jsonValue()), (members) => {
      const parts = Object.entries(members).map(([name, value]) => [name, canonicalText(value)])
      expect(canonicalObject(Object.fromEntries(parts) as Record<string, string>)).toBe(
        canonicalText(members),
      )
    }),
  )
})
