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

/**
 * The rules of Open Badges 3.0 for the objects that we write (https://www.imsglobal.org/spec/ob/v3p0/, §B Data Models),
 * in our words: its JSON Schema may not be copied into a project.
 */
const OBJECTS: Record<string, { required: string[]; noOthers?: true }> = {
  OpenBadgeCredential: {
    required: ['@context', 'id', 'type', 'credentialSubject', 'issuer', 'validFrom'],
  },
  Profile: { required: ['id', 'type'] },
  AchievementSubject: { required: ['type', 'achievement'] },
  IdentityObject: { required: ['type', 'hashed', 'identityHash', 'identityType'], noOthers: true },
  Achievement: { required: ['id', 'type', 'criteria', 'description', 'name'] },
  ResultDescription: { required: ['id', 'type', 'name', 'resultType'] },
  Result: { required: ['type'] },
  Evidence: { required: ['type'] },
  BitstringStatusListEntry: { required: ['id', 'type'] },
}
/** Their types are a text; those of all others are a list. */
const TYPE_IS_TEXT = ['IdentityObject', 'BitstringStatusListEntry']
const LISTS = ['@context', 'identifier', 'resultDescription', 'result', 'evidence']

function expectObjects(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const inner of Object.values(value)) expectObjects(inner)
  const { type } = value as { type?: string | string[] }
  if (type === undefined) return
  const name = [type].flat().at(-1)!
  const rules = OBJECTS[name]!
  expect(rules, name).toBeDefined()
  expect(Array.isArray(type), name).toBe(!TYPE_IS_TEXT.includes(name))
  const members = Object.keys(value)
  expect(members, name).toEqual(expect.arrayContaining(rules.required))
  if (rules.noOthers) expect(members, name).toHaveLength(rules.required.length)
  for (const [member, inner] of Object.entries(value)) {
    // In a result it is the address of one.
    const isList = LISTS.includes(member) && name !== 'Result'
    expect(Array.isArray(inner), `${name} ${member}`).toBe(
      isList || (member === 'type' && Array.isArray(type)),
    )
  }
}

describe('a credential', () => {
  test('has the members and lists that Open Badges asks of each object', () => {
    fc.assert(fc.property(anyCredential, expectObjects))
  })

  test('has the words of the vocabularies of Open Badges', () => {
    const { credentialSubject } = credential() as unknown as {
      credentialSubject: {
        identifier: object[]
        achievement: { achievementType: string; resultDescription: { resultType: string }[] }
      }
    }
    expect(credentialSubject.identifier).toEqual([expect.objectContaining({ identityType: 'name' })])
    expect(credentialSubject.achievement.achievementType).toBe('Certification')
    expect(
      new Set(credentialSubject.achievement.resultDescription.map(({ resultType }) => resultType)),
    ).toEqual(new Set(['RawScore']))
  })

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
