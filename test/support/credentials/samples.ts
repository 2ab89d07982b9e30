// Credentials and status lists as the service makes them, of facts that tests choose or generate.
import fc from 'fast-check'
import { Signer } from '../../../pipeline/credentials/data-integrity.ts'
import {
  type Held,
  type Issued,
  credentialOf,
  issuerOf,
  statusListOf,
} from '../../../pipeline/credentials/documents.ts'
import { credentialKeyText, parseCredentialKey } from '../../../pipeline/credentials/keys.ts'
import { ENTITY_TYPES } from '../../../schemas/tables.ts'

export const DAY_MS = 86_400_000
export const ENTITY_ID = '019a0000-0000-7000-8000-000000000001'

export const ISSUE: Issued = {
  release: 12,
  as_of: '2026-03-01T12:00:00.000Z',
  methodology_version: '4.0.0',
  environment: 'production',
  url: 'https://forecasts.example.org',
}

export const HELD: Held = {
  index: 5,
  name: 'an agent',
  skill: 0.317,
  skill_interval: { lower: 0.125, upper: 0.5, level: 0.975 },
  contested_questions: 214,
}

const credentialKey = (seed: number) => parseCredentialKey(credentialKeyText(new Uint8Array(32).fill(seed)))
export const KEY = credentialKey(7)
export const OTHER_KEY = credentialKey(8)

export const signerOf = ({ url, as_of }: Issued, key = KEY) => new Signer(key, issuerOf(url), as_of)

/** A signed credential of an agent. */
export function credential(held: Partial<Held> = {}, issue = ISSUE, key = KEY) {
  return signerOf(issue, key).secured(credentialOf(issue, 'agent', ENTITY_ID, { ...HELD, ...held }))
}

/** A signed list of the first credentials. */
export function statusList(revoked: readonly number[], issue = ISSUE, key = KEY) {
  return signerOf(issue, key).secured(statusListOf(issue, 0, revoked))
}

const scalar = fc
  .integer({ min: 0, max: 0x10_ffff })
  .map((code) => String.fromCodePoint(code))
  .filter((character) => !/[\p{Cc}\p{Cs}]/u.test(character))
const awkward = fc.constantFrom(
  ...Array.from('"\\\u2028\ufeff\ufffd\uffff\u{10000}\u{10ffff}<> é'),
  '\\u0041',
  '@en',
  '^^',
)
/** Texts of any characters, most of them hard to write down. Those of fast-check take seconds to set up. */
export const anyText = fc.string({ unit: fc.oneof(scalar, awkward) })

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, 1, -1, 5e-324, 1e-7, -1e-7, 1e21, 1.7976931348623157e308, 0.1 + 0.2),
)

const instant = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())

const address = fc.constantFrom(
  'https://forecasts.example.org',
  'http://127.0.0.1:8080',
  'https://example.org/a/room',
  'https://xn--mnchen-3ya.example:8443/forecasts',
)

const issue: fc.Arbitrary<Issued> = fc.record({
  release: fc.nat(),
  as_of: instant,
  methodology_version: fc.constantFrom('4.0.0', '4.1.0', '10.11.12'),
  environment: fc.constantFrom('production', 'sandbox'),
  url: address,
})

const held: fc.Arbitrary<Held> = fc.record({
  index: fc.nat({ max: 2 ** 31 - 1 }),
  name: fc.option(anyText),
  skill: number,
  skill_interval: fc.record({ lower: number, upper: number, level: number }),
  contested_questions: fc.nat(),
})

/** Credentials of generated facts. */
export const anyCredential = fc
  .tuple(issue, fc.constantFrom(...ENTITY_TYPES), fc.uuid(), held)
  .map((facts) => credentialOf(...facts))

/** Status lists of generated facts. */
export const anyStatusList = fc
  .tuple(issue, fc.nat({ max: 99 }), fc.array(fc.nat({ max: 131_071 }), { maxLength: 20 }))
  .map(([facts, list, indices]) =>
    statusListOf(
      facts,
      list,
      indices.map((index) => list * 131_072 + index),
    ),
  )
