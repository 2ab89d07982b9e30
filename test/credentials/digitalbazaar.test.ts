// Our credentials and status lists before the software of Digital Bazaar: what it accepts, and what it refuses.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { credentialOf } from '../../pipeline/credentials/documents.ts'
import { ENTITY_TYPES } from '../../schemas/tables.ts'
import { anyChange, changed, kindsIn } from '../support/credentials/changes.ts'
import { refusal } from '../support/credentials/digitalbazaar.ts'
import {
  DAY_MS,
  ENTITY_ID,
  HELD,
  ISSUE,
  KEY,
  OTHER_KEY,
  credential,
  signerOf,
  statusList,
} from '../support/credentials/samples.ts'

const later = (days: number, ms = 0) => new Date(Date.parse(ISSUE.as_of) + days * DAY_MS + ms)

describe('accepted is', () => {
  test.for(ENTITY_TYPES)('a credential of one of %s', async (entityType) => {
    const held = { ...HELD, name: entityType === 'agent' ? 'an "agent" \u{1f9e0}\\' : null }
    const secured = signerOf(ISSUE).secured(credentialOf(ISSUE, entityType, ENTITY_ID, held))
    expect(await refusal(secured)).toBeUndefined()
  })

  test('a status list', async () => {
    const list = statusList([0, 5, 131_071])
    expect(await refusal(list, { list })).toBeUndefined()
  })

  test('a credential whose neighbours are revoked', async () => {
    expect(await refusal(credential({ index: 5 }), { list: statusList([4, 6]) })).toBeUndefined()
  })

  test('a credential by a key that is no longer the newest', async () => {
    const multikeys = [OTHER_KEY.multikey, KEY.multikey]
    expect(await refusal(credential(), { multikeys })).toBeUndefined()
  })

  test('a credential until its last day is over', async () => {
    expect(await refusal(credential(), { now: later(90) })).toBeUndefined()
  })
})

describe('refused is', () => {
  test('any change of one character of each kind of value of a credential', { tags: ['slow'] }, async () => {
    const secured = credential()
    await fc.assert(
      fc.asyncProperty(anyChange, async (change) => {
        for (const value of kindsIn(secured)) {
          expect(await refusal(changed(secured, value, change)), value.path.join('.')).toBeTypeOf('string')
        }
      }),
      { numRuns: 1 },
    )
  })

  test('any change of one character of each kind of value of a status list', async () => {
    const list = statusList([9])
    await fc.assert(
      fc.asyncProperty(anyChange, async (change) => {
        for (const value of kindsIn(list)) {
          const other = changed(list, value, change)
          expect(await refusal(other, { list: other }), value.path.join('.')).toMatch('the status list')
        }
      }),
      { numRuns: 1 },
    )
  })

  test.for(['a member that is left out', 'a member that is added'])('%s', async (what) => {
    const { evidence: _evidence, ...rest } = credential()
    const other = what === 'a member that is left out' ? rest : { ...credential(), description: 'better' }
    expect(await refusal(other)).toMatch('Invalid signature')
  })

  test('a credential by another key in the name of ours', async () => {
    const { proof, ...document } = credential()
    const { proofValue } = signerOf(ISSUE, OTHER_KEY).secured(document).proof[0]!
    expect(await refusal({ ...document, proof: [{ ...proof[0]!, proofValue }] })).toMatch('Invalid signature')
  })

  test('a credential by a key that the issuer does not list, or no longer', async () => {
    expect(await refusal(credential({}, ISSUE, OTHER_KEY))).toMatch('unable to load')
    const old = { multikeys: [OTHER_KEY.multikey], list: statusList([], ISSUE, OTHER_KEY) }
    expect(await refusal(credential(), old)).toMatch('unable to load')
  })

  test('a revoked credential, with the bit at either end of the list', async () => {
    for (const index of [0, 5, 131_071]) {
      expect(await refusal(credential({ index }), { list: statusList([index]) })).toBe('revoked')
    }
  })

  test('a credential whose list is not there', async () => {
    expect(await refusal(credential({ index: 131_072 }))).toMatch('Could not load')
  })

  test('a credential before its first and after its last day', async () => {
    // It grants five minutes to clocks that differ.
    expect(await refusal(credential(), { now: later(90, 301_000) })).toMatch('validUntil')
    expect(await refusal(credential(), { now: later(0, -301_000) })).toMatch('validFrom')
  })
})
