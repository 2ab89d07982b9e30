// Our credentials against 1EdTech's own JSON Schema of an AchievementCredential: as it is, and without what
// it adds to the formal schema for JSON-LD (test/vectors/open-badges/README.md).
import { Ajv2019 } from 'ajv/dist/2019.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { Credentials } from '../../api/published/credentials.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { ENTITY_TYPES } from '../../schemas/tables.ts'
import { issueTo } from '../support/credentials/issued.ts'
import { ISSUE, anyCredential, credential, signerOf } from '../support/credentials/samples.ts'
import { copyReleasedWorld, forecasterId } from '../support/worlds/world.ts'
import published from '../vectors/open-badges/ob_v3p0_achievementcredential_schema.json' with { type: 'json' }

/** The release of the world. */
const RELEASE = 1

/**
 * The schema with lists alone where the adaptation takes one value too, and texts alone where it takes texts
 * by language.
 */
function formal(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(formal)
  if (typeof schema !== 'object' || schema === null) return schema
  const { oneOf, ...rest } = schema as { oneOf?: { type?: string }[] }
  const [one, other, ...others] = oneOf ?? []
  if (one && other && others.length === 0) {
    if (other.type === 'array') return formal({ ...rest, ...other })
    if (other.type === 'object') return formal({ ...rest, ...one })
  }
  return Object.fromEntries(Object.entries(schema).map(([name, inner]) => [name, formal(inner)]))
}

function validator(schema: object) {
  const ajv = new Ajv2019({ strict: true, strictTypes: false, strictTuples: false, allErrors: true })
  addFormats.default(ajv)
  const validate = ajv.compile(schema)
  return (document: unknown): string[] => {
    validate(document)
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
}

const READINGS = {
  published: validator(published),
  formal: validator(formal(published) as object),
}

describe.for(Object.entries(READINGS))('the schema as it is %s accepts', ([, faultsOf]) => {
  test('credentials of any facts, of agents and of people', { tags: ['slow'] }, () => {
    const seen = { named: 0, nameless: 0 }
    fc.assert(
      fc.property(anyCredential, (document) => {
        seen['identifier' in (document['credentialSubject'] as object) ? 'named' : 'nameless'] += 1
        expect(faultsOf(signerOf(ISSUE).secured(document))).toEqual([])
      }),
    )
    expect(Object.values(seen)).not.toContain(0)
  })

  describe('what the service serves', () => {
    let agentId: string
    let credentials: Credentials
    beforeAll(async () => {
      const store = new MemoryStore()
      ;({ agentId } = await copyReleasedWorld(store))
      await issueTo(store, RELEASE, agentId, forecasterId(0))
      credentials = new Credentials(store)
      await credentials.refresh()
    })

    test.for(ENTITY_TYPES)('of one %s', async (entityType) => {
      const id = entityType === 'agent' ? agentId : forecasterId(0)
      const bytes = await credentials.issuedCredential(RELEASE, entityType, id)
      expect(faultsOf(JSON.parse(Buffer.from(bytes!).toString()))).toEqual([])
    })
  })
})

describe('the formal schema refuses', () => {
  const { formal: faultsOf } = READINGS
  const good = credential()

  test('a proof that is no list', () => {
    expect(faultsOf({ ...good, proof: good.proof[0] })).toEqual(['/proof must be array'])
    expect(READINGS.published({ ...good, proof: good.proof[0] })).toEqual([])
  })

  test.for(published.required)('a credential without %s', (member) => {
    expect(faultsOf({ ...good, [member]: undefined })).toContain(` must have required property '${member}'`)
  })
})
