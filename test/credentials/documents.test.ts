// The form of the documents that the service signs, and of the one that names its keys.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { credentialOf, didDocument, issuerOf } from '../../pipeline/credentials/documents.ts'
import { ENTITY_TYPES } from '../../schemas/tables.ts'
import {
  DAY_MS,
  ENTITY_ID,
  HELD,
  ISSUE,
  KEY,
  OTHER_KEY,
  anyCredential,
  credential,
  statusList,
} from '../support/credentials/samples.ts'

const CASES = '../cases/credentials'
const written = (document: object) => `${JSON.stringify(document, null, 2)}\n`

// If they change, the number FORM of documents.ts has to grow.
test('a credential has these bytes', async () => {
  await expect(written(credential())).toMatchFileSnapshot(`${CASES}/credential.json`)
})

test('a status list has these bytes', async () => {
  await expect(written(statusList([0, 5, 131_071]))).toMatchFileSnapshot(`${CASES}/status-list.json`)
})

describe('a credential', () => {
  test('describes each object once', () => {
    fc.assert(
      fc.property(anyCredential, (document) => {
        const ids = idsIn(document)
        expect(new Set(ids).size).toBe(ids.length)
      }),
    )
  })

  test('describes each result, and has a result for each description', () => {
    const { credentialSubject } = credential() as unknown as {
      credentialSubject: {
        achievement: { resultDescription: { id: string }[] }
        result: { resultDescription: string; value: string }[]
      }
    }
    const { achievement, result } = credentialSubject
    expect(result.map(({ resultDescription }) => resultDescription)).toEqual(
      achievement.resultDescription.map(({ id }) => id),
    )
    expect(result.map(({ value }) => value)).toEqual(['0.317', '0.125', '0.5', '0.975', '214'])
  })

  test('of a person has no name', () => {
    const document = credentialOf(ISSUE, 'forecaster', ENTITY_ID, { ...HELD, name: null })
    expect(document['credentialSubject']).not.toHaveProperty('identifier')
  })

  test('is valid for 90 days from the instant of its release', () => {
    const { validFrom, validUntil } = credential()
    expect(validFrom).toBe(ISSUE.as_of)
    expect(Date.parse(String(validUntil)) - Date.parse(ISSUE.as_of)).toBe(90 * DAY_MS)
  })

  test.for(ENTITY_TYPES)('of one %s is told from every other by its id', (entityType) => {
    const ids = [12, 13].flatMap((release) =>
      [ENTITY_ID, 'other'].map((id) => credentialOf({ ...ISSUE, release }, entityType, id, HELD)['id']),
    )
    expect(new Set(ids).size).toBe(4)
  })

  test('has the number of its list and its place in it', () => {
    const places = [0, 131_071, 131_072, 400_000].map((index) => credential({ index })['credentialStatus'])
    expect(places).toEqual(
      [
        [0, 0],
        [0, 131_071],
        [1, 0],
        [3, 6784],
      ].map(([list, place]) =>
        expect.objectContaining({
          id: `${ISSUE.url}/credentials/status/${list}#${place}`,
          statusListIndex: String(place),
          statusListCredential: `${ISSUE.url}/credentials/status/${list}`,
        }),
      ),
    )
  })
})

function idsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { id } = value as { id?: string }
  return [...(id === undefined ? [] : [id]), ...Object.values(value).flatMap(idsIn)]
}

// https://w3c-ccg.github.io/did-method-web/#example-creating-the-did, and the resolution that it describes.
test.for([
  ['https://w3c-ccg.github.io', 'did:web:w3c-ccg.github.io'],
  ['https://w3c-ccg.github.io/user/alice', 'did:web:w3c-ccg.github.io:user:alice'],
  ['https://example.com:3000/user/alice', 'did:web:example.com%3A3000:user:alice'],
  ['https://example.com:443', 'did:web:example.com'],
] as const)('the issuer at %s is %s', ([url, did]) => {
  expect(issuerOf(url)).toBe(did)
})

test('the document of the issuer names each key, each of them for assertions', () => {
  const issuer = issuerOf(ISSUE.url)
  const { id, verificationMethod, assertionMethod } = didDocument(issuer, [KEY.multikey, OTHER_KEY.multikey])
  expect(id).toBe(issuer)
  expect(verificationMethod).toEqual(
    [KEY, OTHER_KEY].map(({ multikey }) => ({
      id: `${issuer}#${multikey}`,
      type: 'Multikey',
      controller: issuer,
      publicKeyMultibase: multikey,
    })),
  )
  expect(assertionMethod).toEqual(verificationMethod.map((method) => method.id))
})
