// The script that checks certificates in browsers writes the same N-Quads as the service, which signs them.
import { readFileSync } from 'node:fs'
import { Script, createContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { proofOptions } from '../../../pipeline/credentials/data-integrity.ts'
import { type Issued, credentialOf, issuerOf, statusListOf } from '../../../pipeline/credentials/documents.ts'
import { CONTEXTS, quadsOf } from '../../../pipeline/credentials/quads.ts'
import { ENTITY_TYPES } from '../../../schemas/tables.ts'
import { ENVIRONMENTS } from '../../../schemas/values.ts'

const context = createContext()
const source = new URL('../../../api/pages/assets/credential-quads.js', import.meta.url)
new Script(readFileSync(source, 'utf8')).runInContext(context)
const script = context['credentialQuads'] as { quadsOf: (document: object) => string }

const issued: fc.Arbitrary<Issued> = fc.record({
  release: fc.integer({ min: 1 }),
  as_of: fc
    .date({ min: new Date(0), max: new Date('2199-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  methodology_version: fc.constantFrom('4.0.0', '12.1.3'),
  environment: fc.constantFrom(...ENVIRONMENTS),
  url: fc.constantFrom('https://forecasts.example.org', 'http://localhost:8080/fvs/sandbox'),
})
const number = fc.double({ noNaN: true, noDefaultInfinity: true })
const named = fc.oneof(
  fc.string({ unit: 'grapheme' }).filter((text) => !/\p{Cc}/u.test(text)),
  fc.constantFrom('“” \\ \\n "quoted" <a>', ']]>', 'אבג', '😀'),
)
const credential = fc
  .record({
    issue: issued,
    entityType: fc.constantFrom(...ENTITY_TYPES),
    id: fc.uuid(),
    held: fc.record({
      index: fc.nat(),
      name: fc.option(named),
      skill: number,
      skill_interval: fc.record({ lower: number, upper: number, level: number }),
      contested_questions: fc.nat(),
    }),
  })
  .map(({ issue, entityType, id, held }) => credentialOf(issue, entityType, id, held))
const statusList = fc
  .record({ issue: issued, revoked: fc.array(fc.nat(131_071), { maxLength: 20 }) })
  .map(({ issue, revoked }) => statusListOf(issue, 0, revoked))

test('of credentials, status lists and the options of proofs', () => {
  const documents = fc.oneof(
    { weight: 8, arbitrary: credential },
    { weight: 1, arbitrary: statusList },
    issued.map(({ url, as_of }) => ({
      '@context': CONTEXTS,
      ...proofOptions(`${issuerOf(url)}#z6Mk`, as_of),
    })),
  )
  fc.assert(
    fc.property(documents, (document) => {
      // The script gets the document as JSON, in an order of its own.
      expect(script.quadsOf(JSON.parse(JSON.stringify(document)) as object)).toBe(quadsOf(document))
    }),
    { numRuns: 300 },
  )
})

/** Whether a function takes a document; its quads if it does. */
function outcome(of: (document: object) => string, document: object): string {
  try {
    return of(document)
  } catch {
    return 'refused'
  }
}

test('of documents in which anything is changed: both take the same, and refuse the same', () => {
  const strange = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom('assertionMethod', 'https://a.example/', 'https://a b', '\u0007', true, 1, null, [], {}, [
      'x',
      'x',
    ]),
    fc.constantFrom(
      { id: 'https://a.example/', type: 'Evidence' },
      { id: 'x' },
      { id: 'did:a', constructor: 'a' },
    ),
  )
  const names = fc.constantFrom(
    'name',
    'type',
    'id',
    '@context',
    'issuer',
    'constructor',
    '__proto__',
    'hashed',
    'x',
    'proof',
    'evidence',
  )
  const inside = fc.constantFrom('credentialSubject', 'credentialStatus', 'issuer', undefined)
  let taken = 0
  fc.assert(
    fc.property(credential, inside, names, strange, (document, place, name, value) => {
      const changed = JSON.parse(JSON.stringify(document)) as Record<string, Record<string, unknown>>
      const target = place === undefined ? changed : changed[place]!
      Object.defineProperty(target, name, { value, enumerable: true, configurable: true })
      const own = outcome(quadsOf, changed)
      if (own !== 'refused') taken += 1
      expect(outcome(script.quadsOf, changed)).toBe(own)
    }),
    { numRuns: 1000 },
  )
  expect(taken).toBeGreaterThan(50)
})
