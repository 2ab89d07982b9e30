// Bundles of entries, there and back, and cut off.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bundleOf, entriesOf } from '../../pipeline/proof/entry-bundle.ts'

test('an entry comes after its length in two bytes (tlog-tiles, "Log entries")', () => {
  expect(Buffer.from(bundleOf([Buffer.from('ab'), Buffer.alloc(0)])).toString('hex')).toBe('000261620000')
})

test('entries come back as they were', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 256 }), (entries) => {
      expect(entriesOf(bundleOf(entries)).map((entry) => Uint8Array.from(entry))).toEqual(entries)
    }),
  )
})

test('the largest entry has 65,535 bytes', () => {
  const largest = Buffer.alloc(65_535, 1)
  expect(entriesOf(bundleOf([largest]))[0]).toHaveLength(65_535)
  expect(() => bundleOf([Buffer.alloc(65_536)])).toThrow('at most 65535 bytes, not 65536')
})

test('a bundle that is cut off is corrupt', () => {
  const bundle = bundleOf([Buffer.from('first'), Buffer.from('second')])
  const ends = [0, 'first'.length + 2, bundle.byteLength]
  for (let end = 0; end <= bundle.byteLength; end += 1) {
    const cut = () => entriesOf(bundle.subarray(0, end))
    if (ends.includes(end)) expect(cut()).toHaveLength(ends.indexOf(end))
    else expect(cut).toThrow(expect.objectContaining({ kind: 'corrupt' }) as Error)
  }
})
