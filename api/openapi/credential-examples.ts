// Credentials of the examples, signed by a key of the examples.
import { Signer } from '../../pipeline/credentials/data-integrity.ts'
import {
  type Held,
  credentialOf,
  didDocument,
  issuerOf,
  statusListOf,
} from '../../pipeline/credentials/documents.ts'
import { credentialKeyText, parseCredentialKey } from '../../pipeline/credentials/keys.ts'
import type { EntityType } from '../../schemas/tables.ts'
import * as examples from './examples.ts'

const { AGENT_ID, USER_ID } = examples
const ISSUED = {
  release: 214,
  as_of: '2026-03-01T12:00:00.000Z',
  methodology_version: '4.0.0',
  environment: 'production',
  url: 'https://forecasts.example.org',
} as const
export const EXAMPLE_HELD: Record<EntityType, Held> = {
  agent: {
    index: 0,
    name: 'my-agent',
    skill: 0.12,
    skill_interval: { lower: 0.05, upper: 0.19, level: 0.975 },
    contested_questions: 214,
  },
  forecaster: {
    index: 1,
    name: null,
    skill: 0.2,
    skill_interval: { lower: 0.07, upper: 0.33, level: 0.95 },
    contested_questions: 88,
  },
}

let made: ReturnType<typeof makeExamples> | undefined

/** Makes the examples on first use, as those of the log are made. */
export function credentialExamples(): ReturnType<typeof makeExamples> {
  return (made ??= makeExamples())
}

function makeExamples() {
  const key = parseCredentialKey(credentialKeyText(new Uint8Array(32).fill(1)))
  const issuer = issuerOf(ISSUED.url)
  const signer = new Signer(key, issuer, ISSUED.as_of)
  const list = statusListOf(ISSUED, 0, [])
  // An empty list is long, and its text says nothing.
  const subject = { ...(list['credentialSubject'] as object), encodedList: 'uH4sIAAAAAAAA_2MAAADqkgEAAQ' }
  return {
    issuer: didDocument(issuer, [key.multikey]),
    credentialOf: (entityType: EntityType): object => {
      const entityId = entityType === 'agent' ? AGENT_ID : USER_ID
      return signer.secured(credentialOf(ISSUED, entityType, entityId, EXAMPLE_HELD[entityType]))
    },
    statusList: signer.secured({ ...list, credentialSubject: subject }) as object,
  }
}
