// The canonical N-Quads of our documents against those of a JSON-LD processor, and what they are refused for.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { proofOptions } from '../../pipeline/credentials/data-integrity.ts'
import { credentialOf } from '../../pipeline/credentials/documents.ts'
import { CONTEXTS, quadsOf } from '../../pipeline/credentials/quads.ts'
import { ENTITY_TYPES } from '../../schemas/tables.ts'
import { canonicalQuads } from '../support/credentials/contexts.ts'
import { ENTITY_ID, HELD, ISSUE, KEY, anyCredential, anyStatusList } from '../support/credentials/samples.ts'
import { runs } from '../support/runs.ts'

async function expectSame(document: object) {
  expect(quadsOf(document)).toBe(await canonicalQuads(document))
}

describe('the N-Quads are those of a JSON-LD processor', () => {
  test.for(ENTITY_TYPES)('for one of %s, with a name and without', async (entityType) => {
    for (const name of ['an "agent"\\ of \u{1f9e0}', null]) {
      await expectSame(credentialOf(ISSUE, entityType, ENTITY_ID, { ...HELD, name }))
    }
  })

  test('for credentials of any facts', { tags: ['slow'] }, async () => {
    await fc.assert(fc.asyncProperty(anyCredential, expectSame))
  })

  test('for status lists of any credentials', async () => {
    await fc.assert(fc.asyncProperty(anyStatusList, expectSame), { numRuns: runs(20) })
  })

  test('for the options of a proof', async () => {
    const options = proofOptions(`did:web:example.org#${KEY.multikey}`, ISSUE.as_of)
    await expectSame({ '@context': CONTEXTS, ...options })
  })
})

describe('refused is', () => {
  const document = credentialOf(ISSUE, 'agent', ENTITY_ID, HELD)
  const subject = document['credentialSubject'] as { achievement: object; identifier: object[] }
  const status = document['credentialStatus'] as { statusListCredential: string }
  const [evidence] = document['evidence'] as { id: string }[]
  const refusals: [what: string, document: object, message: string][] = [
    ['an unknown member', { ...document, image: 'x' }, 'the member "image"'],
    ['a member of every object', { ...document, toString: 'x' }, 'the member "toString"'],
    ['an unknown type', { ...document, type: ['ClrCredential'] }, 'the type'],
    ['a type that every object has', { ...document, type: 'constructor' }, 'the type'],
    ['a type in a list in a list', { ...document, type: [['VerifiableCredential']] }, 'the type'],
    ['an id that is no address', { ...document, id: 'credential' }, 'the id'],
    ['an id that ends early', { ...document, id: 'https://example.org/> <x' }, 'the id'],
    ['an id of a blank node', { ...document, id: '_:c14n0' }, 'the id'],
    ['an id that is null', { ...document, id: null }, 'the id'],
    ['a number', { ...document, name: 1 }, 'the value "1"'],
    ['null', { ...document, name: null }, 'the value "null"'],
    ['a list in a list', { ...document, evidence: [[]] }, 'the value "[]"'],
    ['half of a surrogate pair', { ...document, name: 'x\ud800' }, 'the value "x'],
    ['half of a surrogate pair in an id', { ...document, id: 'urn:\ud800' }, 'the id "urn'],
    ['a list of one value', { ...document, validUntil: [document['validUntil']] }, 'the list "validUntil"'],
    ['an entry that stands twice', { ...document, evidence: [evidence, evidence] }, 'the same twice'],
    [
      'an entry that stands twice as its id alone',
      { ...document, evidence: [evidence, evidence!.id] },
      'the same twice',
    ],
    [
      'an object that is an id alone',
      {
        ...document,
        credentialStatus: { ...status, statusListCredential: { id: status.statusListCredential } },
      },
      'the object "https://forecasts.example.org/credentials/status/0"',
    ],
    [
      'an object that says nothing',
      { ...document, evidence: [{ id: 'urn:x', evidence: [] }] },
      'the object "urn:x"',
    ],
    [
      'a text in the place of a truth value',
      {
        ...document,
        credentialSubject: { ...subject, identifier: [{ ...subject.identifier[0], hashed: 'false' }] },
      },
      'the value "false"',
    ],
    ['another context', { ...document, '@context': CONTEXTS.slice(0, 1) }, '@context must be'],
    ['the contexts in another order', { ...document, '@context': CONTEXTS.toReversed() }, '@context must be'],
    ['a context of its own', { ...document, '@context': [...CONTEXTS, { x: 'y' }] }, '@context must be'],
    ['a document without a context', { ...document, '@context': undefined }, '@context must be'],
    [
      'a context in an object',
      { ...document, credentialSubject: { ...subject, '@context': CONTEXTS } },
      'the member "@context"',
    ],
    ['a keyword', { ...document, '@included': [] }, 'the member "@included"'],
    [
      'a second object without an id',
      {
        ...document,
        credentialSubject: { ...subject, achievement: { ...subject.achievement, id: undefined } },
      },
      'only one object',
    ],
  ]

  test.for(refusals)('%s', ([, changed, message]) => {
    expect(() => quadsOf(changed)).toThrow(message)
    expect(() => quadsOf(changed)).toThrow(expect.objectContaining({ kind: 'invalid' }))
  })
})
