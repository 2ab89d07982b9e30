// A long text is the UTF-8 of its parts, wherever it had to be moved to.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { GrowingText } from '../../pipeline/proof/growing-text.ts'

test('has the bytes of all parts, and gives those of each', () => {
  const parts = fc.array(fc.string({ unit: 'binary', maxLength: 40 }))
  fc.assert(
    fc.property(fc.nat(50), fc.array(parts), (capacity, texts) => {
      const text = new GrowingText(capacity)
      for (const all of texts) {
        text.clear()
        const own = all.map((part) => text.add(part))
        expect(own.map((bytes) => Buffer.from(bytes).toString())).toEqual(all)
        expect(Buffer.from(text.bytes()).toString()).toBe(all.join(''))
      }
    }),
  )
})
