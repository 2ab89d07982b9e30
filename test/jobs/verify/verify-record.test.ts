// `fvs verify URL` and the verifiers of examples/ against servers that answer with another record than was
// asked for, with more than anyone can read, or not in time.
import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VERIFIERS as TAKEN } from '../../../api/pages/assets.ts'
import { runVerify } from '../../../jobs/verify/verify.ts'
import { runVerifyProof } from '../../../jobs/verify/verify-proof.ts'
import { parseSettings } from '../../../schemas/config.ts'
import { RunningCommand } from '../../support/command.ts'
import { REPOSITORY } from '../../support/fenced-blocks.ts'
import { suiteFolder } from '../../support/folder.ts'
import { listening } from '../../support/loopback-witness.ts'
import {
  Clock,
  SECRET,
  type TestService,
  startTestService,
  testComponents,
} from '../../support/http/service.ts'
import { NOW, copyReleasedWorld, forecasterId } from '../../support/worlds/world.ts'
import { LOG_KEY, LOG_VKEY, writeLog } from '../../support/worlds/written-log.ts'

const folder = await suiteFolder()
let service: TestService
let agentId: string
beforeAll(async () => {
  const components = await testComponents({ folder, clock: new Clock(NOW) })
  ;({ agentId } = await copyReleasedWorld(components.store))
  await writeLog(components.store, 1)
  service = await startTestService({ ...components, signers: [LOG_KEY] })
})
afterAll(() => service.stop())

const [A, B] = [`/forecaster/${forecasterId(0)}`, `/forecaster/${forecasterId(1)}`]

/** Answers each call about `asked` as the service answers the one about `given`, with its proof. */
async function standIn(asked: string, given: string): Promise<string> {
  const root = await listening((request, response) => {
    const [path, query] = request.url!.split('?') as [string, string?]
    const real = path.replace(asked.split('?')[0]!, given)
    const search = path.endsWith('/proof') && !given.endsWith('/proof') && query ? `?${query}` : ''
    void service.client.get(real + search).then(({ status, bytes, headers }) => {
      const signature = headers['x-service-signature']
      response.writeHead(status, signature === undefined ? {} : { 'X-Service-Signature': String(signature) })
      response.end(bytes)
    })
  })
  return root + asked
}

interface Said {
  ok: boolean
  said: string
}

async function byCommand(command: string, file: string, address: string): Promise<Said> {
  const args = [file, address, LOG_VKEY]
  const { code, stdout, stderr } = await new RunningCommand(command, args, { cwd: folder }).ended
  return { ok: code === 0, said: stdout + stderr }
}

async function byReport(report: Promise<{ ok: boolean; text: string }>): Promise<Said> {
  return report.then(
    ({ ok, text }) => ({ ok, said: text }),
    (error: unknown) => ({ ok: false, said: String(error) }),
  )
}

const settings = parseSettings({ VERIFICATION_SIGNING_SECRET: SECRET })
const VERIFIERS: Record<string, (address: string) => Promise<Said>> = {
  'fvs verify, by the signature': (address) =>
    byReport(runVerify(settings, address, { environment: 'production' }, new Date(NOW))),
  'fvs verify, by the proof': (address) =>
    byReport(runVerifyProof(address, { vkey: [LOG_VKEY], witness: [] })),
  'verify.js': async (address) => {
    const file = join(folder, 'verify.js')
    await writeFile(file, TAKEN['verify.js'].bytes)
    return byCommand(process.execPath, file, address)
  },
  'examples/verify.py': (address) => byCommand('python3', `${REPOSITORY}examples/verify.py`, address),
}
const hasPython = spawnSync('python3', ['--version']).error === undefined
if (!hasPython && process.env['CI'] === 'true') throw new Error('python3 is not installed')
const verifiers = Object.entries(VERIFIERS).filter(([name]) => hasPython || !name.endsWith('.py'))

describe.each(verifiers)('%s', (name, verified) => {
  test('prints the kind, the id, the environment, the release and the time of a record', async () => {
    for (const path of [`${A}/verification`, `${A}/metrics`, `/agents/${agentId}/rankings`]) {
      const { ok, said } = await verified(await standIn(path, path))
      const [, , id, kind] = path.split('/') as [string, string, string, string]
      expect(ok, said).toBe(true)
      const words = `${kind} of ${id}, release 1 of production, as of ${NOW}`
      expect(said).toContain(words)
    }
  })

  test.each([
    ['the record of another one', `${A}/verification`, `${B}/verification`],
    ['another kind of record', `${A}/verification`, `${A}/metrics`],
    ['a record that has an award too', `${A}/verification`, `${A}/rankings`],
    ['a record of production for one of the sandbox', `/sandbox${A}/verification`, `${A}/verification`],
  ])('refuses %s, though the service has published it', async (_, asked, given) => {
    const { ok, said } = await verified(await standIn(asked, given))
    expect(ok, said).toBe(false)
    expect(said).toMatch(/another record than was asked for|^this is |\nthis is /)
  })

  test('refuses an address that asks for no record', async () => {
    const address = await standIn('/nothing', `${A}/verification`)
    const { ok, said } = await verified(address)
    expect(ok).toBe(false)
    expect(said).toContain(`${address} is no address of a record`)
  })

  test('reads no more than 4 MiB after decoding', async () => {
    const body = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    const coded = name.endsWith('.py') ? Buffer.alloc(5 * 1024 * 1024) : body
    const root = await listening((_, response) => {
      response.writeHead(200, name.endsWith('.py') ? {} : { 'Content-Encoding': 'gzip' }).end(coded)
    })
    const { ok, said } = await verified(`${root}${A}/verification`)
    expect(ok).toBe(false)
    expect(said).toContain('answers with more than 4194304 bytes')
  })

  test('says in a line that an answer is no record', async () => {
    const root = await listening((_, response) => void response.end(Buffer.from([0x1f, 0x8b, 0xff])))
    const { ok, said } = await verified(`${root}${A}/verification`)
    expect(ok).toBe(false)
    expect(said).not.toMatch(/Traceback|\n {4}at /)
  })

  test('follows no redirect', async () => {
    let hits = 0
    const elsewhere = await listening((_, response) => {
      hits += 1
      response.end('{}')
    })
    const root = await listening((_, response) => {
      response.writeHead(302, { Location: `${elsewhere}${A}/verification` }).end()
    })
    const { ok } = await verified(`${root}${A}/verification`)
    expect({ ok, hits }).toEqual({ ok: false, hits: 0 })
  })
})

describe('fvs verify', () => {
  const signed = VERIFIERS['fvs verify, by the signature']!
  test.each([
    ['the history of another one', `/snapshots${A}`, `/snapshots${B}`],
    [
      'a record of another release than the address names',
      `${A}/verification?release=2`,
      `${A}/verification`,
    ],
    ['the verification for the profile', A, `${A}/verification`],
  ])('refuses %s by its signature', async (_, asked, given) => {
    const { ok, said } = await signed(await standIn(asked, given))
    expect(ok, said).toBe(false)
    expect(said).toContain('another record than was asked for')
  })

  test('refuses the proof of another release, entity or kind than its address names', async () => {
    const at = `${service.url}${A}/verification`
    for (const [proof, ok] of [
      [`${service.url}${A}/verification/proof?release=1`, true],
      [await standIn(`${A}/verification/proof?release=2`, `${A}/verification/proof`), false],
      [await standIn(`${B}/verification/proof`, `${A}/verification/proof`), false],
      [await standIn(`${A}/metrics/proof`, `${A}/verification/proof`), false],
    ] as const) {
      const report = await runVerifyProof(at, { vkey: [LOG_VKEY], witness: [], proof })
      expect(report, proof).toMatchObject({ ok, json: { ok } })
    }
  })

  test('says of a history of which days it is', async () => {
    const { ok, said } = await signed(`${service.url}/snapshots${A}`)
    expect(ok, said).toBe(true)
    expect(said).toContain(
      `forecaster-snapshots of ${forecasterId(0)}, release 1 of production, as of 2026-03-01`,
    )
  })

  test('refuses an id in which a terminal would be steered, and shows it', async () => {
    const address = `${service.url}/forecaster/%1b[31m/verification`
    const { ok, said } = await signed(address)
    expect(ok).toBe(false)
    expect(said).not.toContain('\u001b')
  })
})
