// Certificates by the service's own verifier and by both of examples/: all must decide alike, and take nothing
// for the log's but what a key from elsewhere has signed.
import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { PUBLICATIONS } from '../../api/openapi/examples.ts'
import { canonical, decoded, encoded } from '../../pipeline/proof/canonical.ts'
import { credentialExamples } from '../../api/openapi/credential-examples.ts'
import { certificateBytes, verifyCertificate } from '../../pipeline/proof/certificate.ts'
import { type SigningKey, parseVerifierKey, verifierKeyText } from '../../pipeline/proof/note-keys.ts'
import { DOES_NOT_SHOW, anyCertificate } from '../../schemas/certificate.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { choicesOf } from '../support/faults/seeded.ts'
import { REPOSITORY, textOf } from '../support/fenced-blocks.ts'
import {
  AGENT,
  LOG,
  NEXT,
  STRANGER,
  WITNESSES,
  type WorldOptions,
  worldOf,
} from '../support/worlds/proof-world.ts'

interface Case {
  what: string
  file: Uint8Array
  vkeys: string[]
}

/** Says of each case why it is refused; undefined where it holds. */
type Verifier = (cases: readonly Case[]) => Promise<(string | undefined)[]>

const ours: Verifier = (cases) => Promise.resolve(cases.map(refusalOf))

function refusalOf({ file, vkeys }: Case): string | undefined {
  try {
    const all = vkeys.map(parseVerifierKey)
    const [keys, witnesses] = (['log', 'witness'] as const).map((of) => all.filter(({ use }) => use === of))
    verifyCertificate(file, { keys: keys!, witnesses: witnesses!, leastCosignatures: witnesses!.length })
    return undefined
  } catch (error) {
    if (error instanceof ServiceError) return error.message
    throw error
  }
}

const inNode: Verifier = async (cases) => {
  const source = `${textOf('examples/verify.js')}\nexport { verifyCertificate }`
  const module = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as {
    verifyCertificate: (file: Uint8Array, vkeys: string[], step: () => void) => Promise<void>
  }
  const decide = ({ file, vkeys }: Case) =>
    module
      .verifyCertificate(file, vkeys, () => undefined)
      .then(
        () => undefined,
        (error: unknown) => String(error),
      )
  return Promise.all(cases.map(decide))
}

const IN_PYTHON = `
import base64, contextlib, io, json, runpy, sys
names = runpy.run_path(sys.argv[1])
def decide(case):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            names["verify_certificate"](base64.b64decode(case["file"]), case["vkeys"])
    except (Exception, SystemExit) as refusal:
        return repr(refusal)
print(json.dumps([decide(case) for case in json.load(sys.stdin)]))
`
const hasPython = spawnSync('python3', ['--version']).error === undefined
if (!hasPython && process.env['CI'] === 'true') throw new Error('python3 is not installed')

const inPython: Verifier = (cases) => {
  const args = ['-c', IN_PYTHON, `${REPOSITORY}examples/verify.py`]
  const given = cases.map(({ file, vkeys }) => ({ file: Buffer.from(file).toString('base64'), vkeys }))
  const { stdout, stderr } = spawnSync('python3', args, { input: JSON.stringify(given), encoding: 'utf8' })
  expect(stderr).toBe('')
  return Promise.resolve((JSON.parse(stdout) as (string | null)[]).map((said) => said ?? undefined))
}

const { release, as_of, environment } = AGENT
const AGENTS = { ...PUBLICATIONS.agent.verification, release, as_of, environment }
const FORECASTERS = { ...PUBLICATIONS.forecaster.verification, release, as_of, environment }
const vkeysOf = (...keys: SigningKey[]) => keys.map(({ verifier }) => verifierKeyText(verifier))

function certificate(body: object, options: WorldOptions = {}, own = options.keys ?? [LOG]): Uint8Array {
  const { bytes, proof } = worldOf(body, options)
  return certificateBytes({ payload: bytes, proof, vkeys: vkeysOf(...own) })
}

const known = certificate(AGENTS)
const members = JSON.parse(decoded(known)) as Record<string, unknown>
const { payload, proof, vkeys: own } = anyCertificate.parse(members)
const ofLog = vkeysOf(LOG)
/** The certificate with other members, or without those that are undefined. */
const changedTo = (what: string, change: object, vkeys = ofLog): Case => ({
  what,
  file: canonical({ ...members, ...change }),
  vkeys,
})
const named = (what: string, file: Uint8Array, vkeys = ofLog): Case => ({ what, file, vkeys })

const holding: Case[] = [
  named('an agent', known),
  named('a forecaster', certificate(FORECASTERS)),
  named('two keys, the first known', certificate(AGENTS, { keys: [LOG, NEXT] })),
  named('two keys, the second known', certificate(AGENTS, { keys: [LOG, NEXT] }), vkeysOf(STRANGER, NEXT)),
  named('a witness', certificate(AGENTS, { witnesses: WITNESSES }), vkeysOf(LOG, ...WITNESSES)),
  named('a foreign log, by its key', certificate(AGENTS, { keys: [STRANGER] }), vkeysOf(STRANGER)),
  changedTo('no key of its own', { vkeys: [] }),
  changedTo('a credential', { credential: credentialExamples().credentialOf('agent') }),
]

const text = decoded(known)
const foreign = certificate(AGENTS, { keys: [STRANGER] })
const refused: Case[] = [
  named('a foreign log, by the key of the log', foreign),
  named('no key', known, []),
  named('no witness', known, vkeysOf(LOG, WITNESSES[0]!)),
  changedTo('a foreign key beside the proof of the log', { vkeys: vkeysOf(STRANGER) }),
  changedTo('a foreign key beside that of the log', { vkeys: [...ofLog, ...vkeysOf(STRANGER)] }),
  named(
    'a witness as a key of the log',
    canonical({
      ...(JSON.parse(decoded(certificate(AGENTS, { witnesses: WITNESSES }))) as object),
      vkeys: vkeysOf(WITNESSES[0]!),
    }),
  ),
  changedTo('the verification of another', { payload: { ...payload, agent_id: AGENT.agent_id } }),
  changedTo('another title', { payload: { ...payload, certification: 'none' } }),
  changedTo('the proof of another', { proof: worldOf(FORECASTERS).proof }),
  changedTo('the key of the log beside a foreign proof', {
    proof: worldOf(AGENTS, { keys: [STRANGER] }).proof,
  }),
  named('another kind of record', certificate({ ...AGENT, baseline_score: 1 })),
  changedTo('an old format', { format: 'forecast-verification/certificate@0' }),
  changedTo('a later format', { format: 'forecast-verification/certificate@2' }),
  changedTo('no format', { format: undefined }),
  changedTo('no payload', { payload: undefined }),
  changedTo('a payload that is text', { payload: JSON.stringify(payload) }),
  changedTo('no proof', { proof: undefined }),
  changedTo('a proof in a list', { proof: [proof] }),
  changedTo('no keys', { vkeys: undefined }),
  changedTo('keys as text', { vkeys: own[0] }),
  named('the payload twice', encoded(text.replace('"payload":', '"payload":{},"payload":'))),
  named('a line end behind it', encoded(`${text}\n`)),
  named('a byte order mark before it', encoded(`\ufeff${text}`)),
  named('white space in it', encoded(text.replace('"payload":', '"payload": '))),
  named('nothing', encoded('')),
  named('an empty object', encoded('{}')),
  named('null', encoded('null')),
  named('a list', encoded('[]')),
  named('deep nesting', encoded('['.repeat(100_000))),
  ...[1, 100, text.indexOf('"payload"'), text.indexOf('"proof"'), known.length - 1].map((at) =>
    named(`cut off at ${at}`, known.slice(0, at)),
  ),
  ...changed(known, 400),
]

/** The certificate with one byte of its payload, its proof or its keys another one. */
function changed(from: Uint8Array, runs: number): Case[] {
  const { whole } = choicesOf(1, runs)
  const first = text.indexOf('"payload"')
  // Bytes are not characters: everything before the payload is ASCII but for a quote.
  const begin = encoded(text.slice(0, first)).length
  return Array.from({ length: runs }, () => {
    const at = whole(begin, from.length - 1)
    const bytes = Uint8Array.from(from)
    bytes[at]! ^= whole(1, 255)
    return named(`byte ${at} as ${bytes[at]}`, bytes)
  })
}

test('a certificate is canonical, repeats nothing, and names its keys and what it does not show', () => {
  expect(known).toEqual(canonical(members))
  expect(members).toEqual({
    format: 'forecast-verification/certificate@1',
    payload: AGENTS,
    proof: worldOf(AGENTS).proof,
    vkeys: ofLog,
    does_not_show: DOES_NOT_SHOW.agent,
  })
})

test('keys that have not signed the checkpoint are left out', () => {
  const file = certificate(AGENTS, {}, [STRANGER, LOG])
  expect(JSON.parse(decoded(file))).toMatchObject({ vkeys: ofLog })
})

test('by the keys that it names itself a certificate of anyone holds', () => {
  expect(verifyCertificate(foreign).signatures.map(({ key }) => key.keyId)).toEqual([STRANGER.verifier.keyId])
  expect(() => verifyCertificate(canonical({ ...members, vkeys: [] }))).toThrow('no known key of')
})

describe.each([
  ['of the service', ours, true],
  ['for Node and browsers', inNode, true],
  ['for Python', inPython, hasPython],
])('the verifier %s', (_, verifier, isThere) => {
  test.skipIf(!isThere)('accepts what holds', async () => {
    const said = await verifier(holding)
    expect(said.map((why, at) => ({ what: holding[at]!.what, why }))).toEqual(
      holding.map(({ what }) => ({ what, why: undefined })),
    )
  })

  test.skipIf(!isThere)('refuses what does not', async () => {
    const said = await verifier(refused)
    expect(refused.filter((_each, at) => said[at] === undefined).map(({ what }) => what)).toEqual([])
  })

  test.skipIf(!isThere)('says that a key of the certificate has not signed it', async () => {
    const [said] = await verifier([changedTo('a foreign key', { vkeys: vkeysOf(STRANGER) })])
    expect(said).toMatch(/the certificate names .*, which has not signed it/)
  })
})
