// Which proofs are good: those of the same document, the same options and the same key.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Proof, type Secured, isSignedBy } from '../../pipeline/credentials/data-integrity.ts'
import { canonicalText } from '../../pipeline/proof/canonical.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { anyChange, changed, valuesIn } from '../support/credentials/changes.ts'
import {
  ISSUE,
  KEY,
  OTHER_KEY,
  anyCredential,
  anyStatusList,
  credential,
  signerOf,
} from '../support/credentials/samples.ts'
import { runs } from '../support/runs.ts'

/** Whether the proof is good; a document of another form is not. */
async function isGood(secured: Secured, multikey = KEY.multikey): Promise<boolean> {
  try {
    return await isSignedBy(secured, multikey)
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'invalid') return false
    throw error
  }
}

test('what is signed is good by that key alone', { tags: ['slow'] }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(anyCredential, anyStatusList), async (document) => {
      const secured = signerOf(ISSUE).secured(document)
      expect(await isSignedBy(secured, KEY.multikey)).toBe(true)
      expect(await isSignedBy(secured, OTHER_KEY.multikey)).toBe(false)
    }),
  )
})

test('one signer gives each document the proof that a signer of its own gives it', () => {
  const signer = signerOf(ISSUE)
  for (const { proof, ...document } of [credential(), credential({ index: 6 })]) {
    expect(signer.secured(document).proof).toEqual(proof)
  }
})

test('a document reads the same in any order of its members and lists', async () => {
  const { '@context': context, evidence, ...rest } = credential()
  const turned = Object.fromEntries(Object.entries(rest).toReversed())
  const secured = {
    ...turned,
    evidence: (evidence as object[]).toReversed(),
    '@context': context,
  } as unknown as Secured
  expect(await isSignedBy(secured, KEY.multikey)).toBe(true)
})

/** Ways to write a value otherwise, of which JSON-LD takes some for the same. */
const REWRITES: ((value: unknown, parent: Record<string, unknown>, name: string) => unknown)[] = [
  (value) => [value],
  (value) => [value, value],
  (value) => (Array.isArray(value) ? (value[0] as unknown) : [value, []]),
  (value) => (Array.isArray(value) ? value.concat(value.slice(0, 1)) : [value, null]),
  (value) => (typeof value === 'object' ? (value as { id?: string }).id : { id: value }),
  (value) => (typeof value === 'string' ? { '@value': value } : String(value)),
  (value) => (typeof value === 'object' ? { ...value } : value === 'false'),
  // Moved to the object around it, or into the first object beside it.
  (value, parent, name) => {
    const beside = Object.values(parent).find((inner) => typeof inner === 'object' && inner !== value)
    if (typeof beside === 'object') Object.assign(beside as object, { [name]: value })
    return undefined
  },
  (_value, parent) => ({ ...parent }),
  () => [],
]

/** These may stand as a value or as a list of one. */
const MAY_BE_LISTS = ['type', 'identifier', 'resultDescription']

/** The document without what its readers need not tell apart: the order of a list, and lists of one. */
function meaning(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(meaning).sort((a, b) => (canonicalText(a) < canonicalText(b) ? -1 : 1))
  }
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(
    members.map(([name, inner]) => [name, meaning(MAY_BE_LISTS.includes(name) ? [inner].flat() : inner)]),
  )
}

test(
  'a document that is written otherwise is good only if it says the same where it said it',
  { tags: ['slow'] },
  async () => {
    const { proof, ...original } = credential()
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(), fc.constantFrom(...REWRITES), async (object, member, rewrite) => {
        const copy = structuredClone(original)
        const objects = objectsIn(copy)
        const parent = objects[object % objects.length]!
        const name = Object.keys(parent)[member % Object.keys(parent).length]!
        parent[name] = rewrite(parent[name], parent, name)
        const isSame = canonicalText(meaning(copy)) === canonicalText(meaning(original))
        if (!isSame)
          expect(await isGood(JSON.parse(JSON.stringify({ ...copy, proof })) as Secured)).toBe(false)
      }),
      { numRuns: runs(1000) },
    )
  },
)

function objectsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(objectsIn)
  return Array.isArray(value) ? inner : [value as Record<string, unknown>, ...inner]
}

describe('not good is', () => {
  test('any change of one character of any value', async () => {
    const secured = credential()
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...valuesIn(secured)), anyChange, async (value, change) => {
        expect(await isGood(changed(secured, value, change)), value.path.join('.')).toBe(false)
      }),
      { numRuns: runs(1000) },
    )
  })

  const secured = credential()
  const [proof] = secured.proof as [Proof]
  const { validUntil, evidence, ...rest } = secured
  const others: [what: string, document: Secured][] = [
    ['a member that is left out', { ...rest, evidence }],
    ['a member that is added', { ...secured, description: 'better' }],
    ['an entry that is left out', { ...secured, evidence: (evidence as object[]).slice(1) }],
    // What a credential says of itself must stand in it, where a reader looks for it.
    [
      'a member that is moved into another object',
      { ...rest, evidence: [...(evidence as object[]), { id: secured['id'], validUntil }] },
    ],
    [
      'a proof of another suite',
      { ...secured, proof: [{ ...proof, cryptosuite: 'eddsa-jcs-2022' as never }] },
    ],
    [
      'a proof for another purpose',
      { ...secured, proof: [{ ...proof, proofPurpose: 'authentication' as never }] },
    ],
    ['a proof with a member more', { ...secured, proof: [{ ...proof, domain: 'x' } as never] }],
    [
      'a signature that is cut',
      { ...secured, proof: [{ ...proof, proofValue: proof.proofValue.slice(0, -1) }] },
    ],
    ['an empty signature', { ...secured, proof: [{ ...proof, proofValue: 'z' }] }],
    ['no proof', { ...secured, proof: [] }],
    ['a proof beside the proof', { ...secured, proof: [proof, proof] }],
  ]
  test.for(others)('%s', async ([, document]) => expect(await isGood(document)).toBe(false))
})
