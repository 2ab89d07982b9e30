// The verifiers in examples/, one for Node and browsers and one for Python, against the worked values and
// against the service's own verifier: all must decide alike.
import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { VERIFIERS } from '../../api/pages/assets.ts'
import { bundledForReaders } from '../../api/pages/bundle.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { canonical, encoded } from '../../pipeline/proof/canonical.ts'
import { type SigningKey, parseVerifierKey, verifierKeyText } from '../../pipeline/proof/note-keys.ts'
import type { verifyWith } from '../../pipeline/proof/reader.ts'
import { receiptsOf } from '../../pipeline/proof/receipts.ts'
import { verifyProof, verifyReceipt } from '../../pipeline/proof/verify.ts'
import { REPOSITORY } from '../support/fenced-blocks.ts'
import {
  AGENT,
  BATCH,
  FORECAST,
  FORECASTER,
  LOG,
  NEXT,
  ORIGIN,
  STRANGER,
  WITNESSES,
  type WorldOptions,
  keyOf,
  worldOf,
} from '../support/worlds/proof-world.ts'
import { choicesOf } from '../support/faults/seeded.ts'
import { vectors } from '../support/transparency-vectors.ts'

interface Case {
  what: string
  body: string
  proof: string
  vkeys: string[]
}

/** Says of each case why it is refused; undefined where it holds. */
type Verifier = (cases: readonly Case[]) => Promise<(string | undefined)[]>

/** As pages and the TypeScript client hold it: without a module of Node, and without its Buffer. */
const inPages: Verifier = async (cases) => {
  const bytes = await bundledForReaders(new URL('../../pipeline/proof/reader.ts', import.meta.url))
  const source = `const globalThis = {}\n${Buffer.from(bytes).toString()}`
  expect(source).not.toMatch(IMPORTS)
  const module = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as {
    verifyWith: typeof verifyWith
  }
  const decide = ({ body, proof, vkeys }: Case) =>
    module.verifyWith(encoded(body), proof, vkeys).then(
      () => undefined,
      (error: unknown) => String(error),
    )
  return Promise.all(cases.map(decide))
}

const IMPORTS = /\b(import|require)\b|\bnode:/

/** Defines the functions of the example without its command, and gives each case to them. */
const IN_PYTHON = `
import contextlib, io, json, runpy, sys
names = runpy.run_path(sys.argv[1])
def decide(case):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            names["verify_proof"](case["body"].encode(), case["proof"], case["vkeys"])
    except (Exception, SystemExit) as refusal:
        return repr(refusal)
print(json.dumps([decide(case) for case in json.load(sys.stdin)]))
`
const hasPython = spawnSync('python3', ['--version']).error === undefined
if (!hasPython) {
  if (process.env['CI'] === 'true') throw new Error('python3 is not installed')
  console.warn('skipped: the verifier for Python needs python3')
}

const inPython: Verifier = (cases) => {
  const args = ['-c', IN_PYTHON, `${REPOSITORY}examples/verify.py`]
  const { stdout, stderr } = spawnSync('python3', args, { input: JSON.stringify(cases), encoding: 'utf8' })
  expect(stderr).toBe('')
  return Promise.resolve((JSON.parse(stdout) as (string | null)[]).map((said) => said ?? undefined))
}

const ours: Verifier = (cases) => Promise.all(cases.map(refusalOf))

async function refusalOf({ body, proof, vkeys }: Case): Promise<string | undefined> {
  try {
    const all = vkeys.map(parseVerifierKey)
    const keys = all.filter(({ use }) => use === 'log')
    const witnesses = all.filter(({ use }) => use === 'witness')
    if (proof.includes('\nextra ')) {
      await verifyProof(encoded(body), proof, { keys, witnesses, leastCosignatures: witnesses.length })
    } else await verifyReceipt(encoded(body), proof, { keys })
    return undefined
  } catch (error) {
    if (error instanceof ServiceError) return error.message
    throw error
  }
}

const vkeysOf = (...keys: SigningKey[]) => keys.map(({ verifier }) => verifierKeyText(verifier))

function proven(what: string, body: object, options: WorldOptions = {}, keys = [LOG]): Case {
  const { bytes, proof } = worldOf(body, options)
  return { what, body: Buffer.from(bytes).toString('utf8'), proof, vkeys: vkeysOf(...keys) }
}

function receipt(what: string, body: object, { size = 5, index = 2, uuid = BATCH, keys = [LOG] } = {}): Case {
  const bodies = Array.from({ length: size }, (_, at) => canonical({ ...FORECAST, forecast_id: `f${at}` }))
  const receipts = receiptsOf(bodies.with(index, canonical(body)), { origin: ORIGIN, uuid }, keys)
  const text = Buffer.from(canonical(body)).toString('utf8')
  return { what, body: text, proof: receipts[index]!, vkeys: vkeysOf(LOG) }
}

const holding: Case[] = [
  proven('an agent', AGENT),
  proven('a forecaster', FORECASTER),
  proven('a forecast', FORECAST),
  proven('a log and a tree of one', { ...AGENT, release: 1 }, { release: 1, entries: 1, leaves: 1 }),
  ...[2, 3, 4, 7, 8, 9, 255, 256, 257].map((leaves) => proven(`${leaves} leaves`, AGENT, { leaves })),
  ...[4, 5, 7, 8, 9, 257].map((entries) => proven(`${entries} entries`, AGENT, { entries })),
  proven('two keys, the first known', AGENT, { keys: [LOG, NEXT] }),
  proven('two keys, the second known', AGENT, { keys: [LOG, NEXT] }, [NEXT, STRANGER]),
  proven('a witness', AGENT, { witnesses: WITNESSES.slice(0, 1) }, [LOG, WITNESSES[0]!]),
  proven('two witnesses', AGENT, { witnesses: WITNESSES }, [...WITNESSES, LOG]),
  {
    ...receipt('a receipt, for a reader who knows a witness', FORECAST),
    vkeys: vkeysOf(LOG, WITNESSES[0]!),
  },
  ...[1, 2, 5, 256, 257].map((size) => receipt(`a batch of ${size}`, FORECAST, { size, index: size >> 1 })),
]

const long = 'x'.repeat(70_000)
const [known] = holding as [Case]
const refused: Case[] = [
  proven('another release', { ...AGENT, release: 3 }),
  proven('another time', { ...AGENT, as_of: 'x' }),
  proven('another environment', { ...AGENT, environment: 'sandbox' }),
  proven('no release', { agent_id: 'a' }),
  proven('another tree', AGENT, { tree: 'forecaster' }),
  proven('another entry', { ...AGENT, release: 3 }, { release: 3, at: 3 }),
  proven('another log', AGENT, { origin: 'fvs.example/other' }),
  proven('the origin of a receipt', AGENT, { origin: `${ORIGIN}/receipts/${BATCH}` }),
  proven('no key', AGENT, {}, []),
  proven('a key that did not sign', AGENT, {}, [STRANGER]),
  proven('a key of another log', AGENT, {}, [keyOf('fvs.example/other', 'log', 1)]),
  proven('the key of a log as a witness', AGENT, {}, [keyOf(ORIGIN, 'witness', 1)]),
  proven('no witness', AGENT, {}, [LOG, WITNESSES[0]!]),
  proven('one witness of two', AGENT, { witnesses: WITNESSES.slice(1) }, [LOG, ...WITNESSES]),
  proven('a member named twice', AGENT, {
    bytes: encoded(JSON.stringify(AGENT).replace('{', '{"release":5,')),
  }),
  receipt('a receipt of a payload', AGENT),
  receipt('a receipt of no batch', FORECAST, { uuid: 'x' }),
  receipt('a receipt by another key', FORECAST, { keys: [STRANGER] }),
  { ...known, what: 'nothing', proof: '' },
  { ...known, what: 'no checkpoint', proof: known.proof.split('\n\n')[0]! },
  { ...known, what: 'a long note', proof: `${known.proof}— ${long} AAAAAAAA\n` },
  {
    ...known,
    what: 'a long path',
    proof: known.proof.replace(/(\n.{43}=)+\n\n/, (path) => path.trimEnd().repeat(32) + '\n\n'),
  },
  { ...known, what: 'a leading zero', proof: known.proof.replace('\nindex ', '\nindex 0') },
  {
    ...known,
    what: 'a hash of 31 bytes',
    proof: known.proof.replace(/\n.{43}=\n/, `\n${Buffer.alloc(31).toString('base64')}\n`),
  },
  {
    ...known,
    what: 'a key with another id',
    vkeys: known.vkeys.map((key) => key.replace(/\+\w{8}\+/, '+00000000+')),
  },
  ...known.proof.split('\n').map((_, at, lines) => ({
    ...known,
    what: `without line ${at}`,
    proof: lines.toSpliced(at, 1).join('\n'),
  })),
  ...changed(known, 300),
  ...changed(holding.at(-1)!, 100),
]

/** The case with one byte of the body or of the proof another one. */
function changed(from: Case, runs: number): Case[] {
  const { whole, chance } = choicesOf(1, runs)
  return Array.from({ length: runs }, () => {
    const name = chance(0.3) ? 'body' : 'proof'
    const bytes = Buffer.from(from[name])
    const at = whole(0, bytes.length - 1)
    bytes[at]! ^= whole(1, 127)
    return { ...from, what: `byte ${at} of the ${name} as ${bytes[at]}`, [name]: bytes.toString('utf8') }
  })
}

test('the verifier that readers take is one file, which any Node runs', () => {
  const text = Buffer.from(VERIFIERS['verify.js'].bytes).toString('utf8')
  expect(text).not.toMatch(/\b(import|export|require|await using)\b[ ({]|\bnode:/)
})

describe.each([
  ['of the service', ours, true],
  ['for pages', inPages, true],
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

  test.skipIf(!isThere)('accepts the worked values', async () => {
    const { keys, receipts, forecast_proof: forecast } = vectors('fvs')
    const { vkey, payload_proofs: payloads } = vectors('log700')
    const given = [
      ...receipts.map(({ body, receipt: proof }) => ({ body, proof, vkeys: [keys.log.vkey] })),
      { ...forecast, vkeys: [keys.log.vkey, keys.witness.vkey] },
      ...payloads.map(({ body, proof }) => ({ body, proof, vkeys: [vkey] })),
    ]
    const said = await verifier(given.map((each, at) => ({ ...each, what: String(at) })))
    expect(said).toEqual(given.map(() => undefined))
  })
})

test.each([
  [process.execPath, 'verify.ts'],
  ['python3', 'verify.py'],
])('%s examples/%s without a key of the log asks for one', (command, file) => {
  if (command === 'python3' && !hasPython) return
  const address = 'http://127.0.0.1:1/agents/x/verification'
  const { stderr, status } = spawnSync(command, [`${REPOSITORY}examples/${file}`, address], {
    encoding: 'utf8',
  })
  expect(stderr).toBe('give the address of a record, and the public key of the log\n')
  expect(status).toBe(1)
})
