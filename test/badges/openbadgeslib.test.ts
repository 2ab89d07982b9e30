// What openbadgeslib, an independent verifier in Python, says of our credentials and status lists.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DemoOutcome } from '../../jobs/demo/report.ts'
import type { Secured } from '../../pipeline/credentials/data-integrity.ts'
import { type Held, credentialOf, didDocument, issuerOf } from '../../pipeline/credentials/documents.ts'
import { nameFault } from '../../schemas/names.ts'
import { ENTITY_TYPES } from '../../schemas/tables.ts'
import { RunningCommand } from '../support/command.ts'
import { anyChange, changed, kindsIn } from '../support/credentials/changes.ts'
import { demoCredentials } from '../support/credentials/demo.ts'
import {
  DAY_MS,
  ENTITY_ID,
  HELD,
  ISSUE,
  KEY,
  OTHER_KEY,
  anyText,
  credential,
  signerOf,
  statusList,
} from '../support/credentials/samples.ts'
import { external } from '../support/external.ts'
import { testFolder } from '../support/folder.ts'
import { REPOSITORY } from '../support/fenced-blocks.ts'

const tools = external(['BADGES_PYTHON'], 'test/support/python-venv.sh DIR prints it')
const FVS = fileURLToPath(new URL('../../jobs/fvs.js', import.meta.url))
const SCRIPT = `${REPOSITORY}test/badges/openbadgeslib_verdicts.py`

/** It knows no time but the present. */
const issuedBefore = (days: number) => ({
  ...ISSUE,
  as_of: new Date(Date.now() - days * DAY_MS).toISOString(),
})
const NOW = issuedBefore(1)
const held = (facts: Partial<Held> = {}) => credential(facts, NOW)

interface Asked {
  document: object
  /** Whether the status counts; null for what is no credential, of which the proof alone counts. */
  status: boolean | null
}
const asCredential = (document: object): Asked => ({ document, status: true })
const asSigned = (document: object): Asked => ({ document, status: null })

interface Published {
  multikeys?: readonly string[]
  list?: Secured
}

/** Returns for each document why it is refused, or null. */
async function refusals(
  cases: readonly Asked[],
  { multikeys = [KEY.multikey], list = statusList([9], NOW) }: Published = {},
): Promise<(string | null)[]> {
  const issuer = didDocument(issuerOf(ISSUE.url), multikeys)
  const documents = { [`${ISSUE.url}/.well-known/did.json`]: issuer, [String(list['id'])]: list }
  return verdictsOn({ issuer: issuer.id, documents, cases })
}

async function verdictsOn(asked: {
  issuer: string
  /** By address, in the place of the network. */
  documents: Record<string, object>
  cases: readonly Asked[]
}): Promise<(string | null)[]> {
  const input = JSON.stringify(asked)
  const running = new RunningCommand(tools!.BADGES_PYTHON, ['-B', SCRIPT], { input })
  const { code, stdout, stderr } = await running.ended
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as (string | null)[]
}

const refusal = async (asked: Asked, published?: Published) => (await refusals([asked], published))[0]

describe.skipIf(!tools)('openbadgeslib accepts', () => {
  test('a credential of an agent and of a forecaster', async () => {
    const cases = ENTITY_TYPES.map((entityType) => {
      const facts = { ...HELD, name: entityType === 'agent' ? 'an "agent"\\ \u{1f9e0}' : null }
      return asCredential(signerOf(NOW).secured(credentialOf(NOW, entityType, ENTITY_ID, facts)))
    })
    expect(await refusals(cases)).toEqual(cases.map(() => null))
  })

  test('every credential of the demo, and its status list', async () => {
    const store = join(await testFolder(), 'store')
    const demo = new RunningCommand(process.execPath, [FVS, 'demo', '--exit', '--json', '--store', store])
    const { code, stdout, stderr } = await demo.ended
    expect(code, stderr).toBe(0)
    const { issuer, list, held: all } = await demoCredentials(JSON.parse(stdout) as DemoOutcome, store)
    const address = `https://${decodeURIComponent(issuer.id.slice('did:web:'.length).replaceAll(':', '/'))}/did.json`
    const documents = { [address]: issuer, [String(list['id'])]: list }
    const cases = [...all.map(asCredential), asSigned(list)]
    expect(all.length).toBeGreaterThan(0)
    expect(await verdictsOn({ issuer: issuer.id, documents, cases })).toEqual(cases.map(() => null))
  })

  // It writes control characters as they are, which RDFC-1.0 escapes: no name has one.
  test('any name that an agent can have', async () => {
    const names = fc.sample(
      anyText.filter((name) => nameFault(name) === undefined),
      50,
    )
    expect(await refusals(names.map((name) => asCredential(held({ name })))), names.join()).toEqual(
      names.map(() => null),
    )
  })

  test('the smallest and largest numbers', async () => {
    const skills = [0, -1, 1, 5e-324, -1e-7, 1e21, 0.1 + 0.2]
    expect(await refusals(skills.map((skill) => asCredential(held({ skill }))))).toEqual(
      skills.map(() => null),
    )
  })

  test('the proof of a status list', async () => {
    expect(await refusal(asSigned(statusList([0, 5, 131_071], NOW)))).toBeNull()
  })

  test('a credential by an old key that is still listed', async () => {
    const multikeys = [OTHER_KEY.multikey, KEY.multikey]
    expect(await refusal(asCredential(held()), { multikeys })).toBeNull()
  })
})

describe.skipIf(!tools)('openbadgeslib refuses', () => {
  test('any change of one character of each kind of value of a credential', async () => {
    const secured = held()
    await fc.assert(
      fc.asyncProperty(anyChange, async (change) => {
        const values = kindsIn(secured)
        const found = await refusals(values.map((value) => asCredential(changed(secured, value, change))))
        const accepted = values.filter((_, at) => found[at] === null)
        expect(accepted).toEqual([])
      }),
      { numRuns: 1 },
    )
  })

  test('any change of one character of each kind of value of a status list', async () => {
    const list = statusList([9], NOW)
    await fc.assert(
      fc.asyncProperty(anyChange, async (change) => {
        const values = kindsIn(list)
        const found = await refusals(values.map((value) => asSigned(changed(list, value, change))))
        const accepted = values.filter((_, at) => found[at] === null)
        expect(accepted).toEqual([])
      }),
      { numRuns: 1 },
    )
  })

  test('a member that is left out, and one that is added', async () => {
    const { evidence: _evidence, ...rest } = held()
    const found = await refusals([rest, { ...held(), description: 'better' }].map(asCredential))
    expect(found).toEqual([expect.stringMatching('signature'), expect.stringMatching('signature')])
  })

  test('a credential by another key in the name of ours', async () => {
    const { proof, ...document } = held()
    const { proofValue } = signerOf(NOW, OTHER_KEY).secured(document).proof[0]!
    expect(await refusal(asCredential({ ...document, proof: [{ ...proof[0]!, proofValue }] }))).toMatch(
      'signature',
    )
  })

  test('a credential by a key that the issuer does not list, or no longer', async () => {
    expect(await refusal(asCredential(credential({}, NOW, OTHER_KEY)))).toMatch('no verificationMethod')
    const published = { multikeys: [OTHER_KEY.multikey] }
    expect(await refusal(asCredential(held()), published)).toMatch('no verificationMethod')
  })

  test('a revoked credential, with the bit at either end of the list, and none of its neighbours', async () => {
    const list = statusList([0, 131_071], NOW)
    const cases = [0, 1, 131_070, 131_071].map((index) => asCredential(held({ index })))
    const revoked = expect.stringMatching("'revocation' is set") as string
    expect(await refusals(cases, { list })).toEqual([revoked, null, null, revoked])
  })

  test('a credential whose list is not there, or whose list is out of date', async () => {
    expect(await refusal(asCredential(held({ index: 131_072 })))).toMatch('could not fetch status list')
    const list = statusList([], issuedBefore(91))
    expect(await refusal(asCredential(held()), { list })).toMatch('expired')
  })

  test('a credential before its first and after its last day', async () => {
    const cases = [91, -1].map((days) => ({ document: credential({}, issuedBefore(days)), status: false }))
    const found = await refusals(cases)
    expect(found).toEqual([expect.stringMatching(/expired/i), expect.stringMatching(/not yet valid/i)])
  })
})
