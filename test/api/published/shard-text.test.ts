// Payloads are found in the bytes of a shard as they were published.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ShardText } from '../../../api/published/shard-text.ts'
import { canonical } from '../../../pipeline/proof/canonical.ts'

const payload = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue())
const publication = fc.record({ payload, signature: fc.option(fc.string()) })
const shard = fc.record({
  entities: fc.dictionary(fc.uuid(), fc.dictionary(fc.constantFrom('verification', 'metrics'), publication)),
  entity_type: fc.constantFrom('agent', 'forecaster'),
  release: fc.nat(),
})

const atOnce = () => Promise.resolve()

test(
  'every payload of any shard has the bytes that were published, wherever they lie',
  { tags: ['slow'] },
  () => {
    return fc.assert(
      fc.asyncProperty(shard, fc.nat(20), async (published, offset) => {
        const whole = canonical(published)
        // As a part of something larger, as buffers often are.
        const within = new Uint8Array(offset + whole.length + 7)
        within.set(whole, offset)
        const text = await ShardText.open(within.subarray(offset, offset + whole.length), atOnce)
        for (const [id, kinds] of Object.entries(published.entities)) {
          for (const [kind, { payload: one }] of Object.entries(kinds)) {
            expect(text.payload(id, kind)).toEqual(Buffer.from(canonical(one)))
          }
          expect(text.payload(id, 'profile')).toBeUndefined()
        }
      }),
    )
  },
)

describe('a shard that is cut off', () => {
  const whole = canonical({ entities: { a: { metrics: { payload: { name: '"\\' }, signature: null } } } })

  test.for(Array.from({ length: whole.length }, (_, length) => length))(
    'after %i bytes is corrupt',
    async (length) => {
      await expect(ShardText.open(whole.subarray(0, length), atOnce)).rejects.toMatchObject({
        kind: 'corrupt',
      })
    },
  )
})
