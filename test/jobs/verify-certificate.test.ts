// `fvs verify FILE` of certificates, and the verifiers of examples/ as commands, on what the service answers.
import { spawnSync } from 'node:child_process'
import { mkdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PUBLICATIONS } from '../../api/openapi/examples.ts'
import { isCertificate, runVerifyCertificate } from '../../jobs/verify-certificate.ts'
import { issueCredentials } from '../../pipeline/credentials/issue.ts'
import { credentialKeyText, parseCredentialKey } from '../../pipeline/credentials/keys.ts'
import { canonical, decoded } from '../../pipeline/proof/canonical.ts'
import { certificateBytes } from '../../pipeline/proof/certificate.ts'
import { verifierKeyText } from '../../pipeline/proof/note-keys.ts'
import { DOES_NOT_SHOW } from '../../schemas/certificate.ts'
import { RunningCommand } from '../support/command.ts'
import { REPOSITORY } from '../support/fenced-blocks.ts'
import { suiteFolder } from '../support/folder.ts'
import {
  Clock,
  type TestService,
  release,
  startTestService,
  testComponents,
} from '../support/http/service.ts'
import { HOLDERS, importCertified } from '../support/worlds/certified-world.ts'
import { AGENT, LOG, STRANGER, WITNESSES, worldOf } from '../support/worlds/proof-world.ts'
import { NOW, copyReleasedWorld, forecasterId } from '../support/worlds/world.ts'
import { LOG_KEY, LOG_VKEY, writeLog } from '../support/worlds/written-log.ts'

const folder = await suiteFolder()
let agentId: string
let service: TestService
beforeAll(async () => {
  const components = await testComponents({ folder, clock: new Clock(NOW) })
  ;({ agentId } = await copyReleasedWorld(components.store))
  await writeLog(components.store, 1)
  service = await startTestService({ ...components, signers: [LOG_KEY] })
})
afterAll(() => service.stop())

let files = 0
async function saved(bytes: Uint8Array | string, ending = '.fvs'): Promise<string> {
  files += 1
  const path = join(folder, `${files}${ending}`)
  await writeFile(path, bytes)
  return path
}

const served = async (path: string) => saved((await service.client.get(`${path}/certificate.fvs`)).bytes)
const none = { vkey: [] as string[], witness: [] as string[] }
const byLog = { ...none, vkey: [LOG_VKEY] }

describe('fvs verify FILE', () => {
  test('says in a line each what holds, what the title follows from, and what is not shown', async () => {
    const file = await served(`/forecaster/${forecasterId(0)}`)
    const { ok, text, json } = await runVerifyCertificate(file, byLog)
    expect(ok, text).toBe(true)
    const [first, ...lines] = text.split('\n')
    expect(first).toBe(`${file}: the certificate holds`)
    expect(lines.slice(0, 5)).toEqual([
      `  forecaster-verification of ${forecasterId(0)}, release 1 of production, as of ${NOW}`,
      '  that release has published it of this forecaster',
      '  it is entry 0 of the log fvs.example/forecasts, whose checkpoint has 1 entries',
      `  the checkpoint is signed by ${LOG_VKEY.split('+').slice(0, 2).join('+')}`,
      expect.stringMatching(/^ {2}\w+, because .*; the service saw .* of its settled questions/) as string,
    ])
    const limits = DOES_NOT_SHOW.forecaster
    expect(lines.slice(5)).toEqual(limits.map((each) => `  it does not show ${each}`))
    expect(json).toMatchObject({ ok: true, record: { id: forecasterId(0) }, does_not_show: limits })
  })

  test('fails by the keys of the file alone, and says that they show nothing of who made it', async () => {
    const { ok, text, json } = await runVerifyCertificate(await served(`/agents/${agentId}`), none)
    expect(ok).toBe(false)
    expect(text).toMatch(/its parts fit each other, by the keys that it names itself, which shows nothing/)
    expect(text).toContain(`agent-verification of ${agentId}`)
    expect(json).toMatchObject({ ok: false, reason: expect.stringContaining('--vkey') as string })
  })

  describe('of somebody with a credential', () => {
    const issuer = {
      url: 'https://fvs.example',
      keys: [parseCredentialKey(credentialKeyText(new Uint8Array(32).fill(1)))],
    }
    let holders: TestService
    beforeAll(async () => {
      const own = join(folder, 'holders')
      await mkdir(own)
      const components = await testComponents({ folder: own, clock: new Clock(NOW) })
      await importCertified(components)
      await release(components)
      await writeLog(components.store, 1)
      await issueCredentials({ ...components, credentialIssuer: issuer }, 1)
      holders = await startTestService({ ...components, signers: [LOG_KEY] })
      return () => holders.stop()
    })

    /** Checks the certificate with a changed credential. */
    async function verified(change: (credential: { proof: object }) => object) {
      const path = `/forecaster/${HOLDERS[0]}/certificate.fvs`
      let certificate: Record<string, unknown> = {}
      await expect
        .poll(async () => (certificate = (await holders.client.get(path)).json()))
        .toHaveProperty('credential')
      const credential = change(certificate['credential'] as { proof: object })
      return runVerifyCertificate(await saved(canonical({ ...certificate, credential })), byLog)
    }

    test('says who has signed it, and where to compare the key', async () => {
      const { ok, text } = await verified((credential) => credential)
      expect(ok, text).toBe(true)
      expect(text).toContain(
        `the credential says the same, signed by the key ${issuer.keys[0]!.multikey} of did:web:fvs.example`,
      )
    })

    test.for([
      ['another name', { name: 'Clever forecaster' }, 'says something else than the verification'],
      ['another signature', { proof: { proofValue: 'z1' } }, 'is not signed by the key that it names'],
      [
        'another key',
        { proof: { verificationMethod: 'did:web:other.example#z1' } },
        'is not signed by the key',
      ],
    ] as const)('refuses %s', async ([, change, reason]) => {
      const { ok, text } = await verified((credential) => {
        const proof = { ...credential.proof, ...('proof' in change ? change.proof : {}) }
        return { ...credential, ...change, proof }
      })
      expect([ok, text]).toEqual([false, expect.stringContaining(reason)])
    })
  })

  const record = {
    ...PUBLICATIONS.agent.verification,
    release: AGENT.release,
    as_of: AGENT.as_of,
    environment: AGENT.environment,
  }
  const made = (body: object, key = LOG) => {
    const { bytes, proof } = worldOf(body, { keys: [key], witnesses: WITNESSES.slice(0, 1) })
    return saved(certificateBytes({ payload: bytes, proof, vkeys: [verifierKeyText(key.verifier)] }))
  }
  const by = (...keys: (typeof LOG)[]) => keys.map(({ verifier }) => verifierKeyText(verifier))

  test('takes a foreign log only by its own key, and names that', async () => {
    const file = await made(record, STRANGER)
    const [known, foreign] = [LOG, STRANGER].map((key) => ({ ...none, vkey: by(key) }))
    expect(await runVerifyCertificate(file, known!)).toMatchObject({
      ok: false,
      text: expect.stringContaining('the certificate does not hold: no known key of') as string,
    })
    const { ok, text } = await runVerifyCertificate(file, foreign!)
    expect(ok, text).toBe(true)
    expect(text).toContain(`is signed by ${STRANGER.verifier.name}+${STRANGER.verifier.keyId}`)
  })

  test('asks for every witness that is named', async () => {
    const file = await made(record)
    const verified = (...witnesses: (typeof LOG)[]) =>
      runVerifyCertificate(file, { vkey: by(LOG), witness: by(...witnesses) })
    expect(await verified(WITNESSES[0]!)).toMatchObject({
      ok: true,
      text: expect.stringContaining('the witness witness.example/w4 saw it at 2026-11-22') as string,
    })
    expect(await verified(...WITNESSES)).toMatchObject({
      ok: false,
      text: expect.stringContaining('of 1 known witnesses, not of 2') as string,
    })
  })

  test('refuses a title that does not follow from its numbers, though the log has it', async () => {
    const file = await made({ ...record, certification: 'none' })
    const { ok, text } = await runVerifyCertificate(file, { ...none, vkey: by(LOG) })
    expect(ok).toBe(false)
    expect(text).toMatch(/: it says none, and its numbers give \w+, because /)
  })

  test('reads no file that is cut off, or larger than any certificate', async () => {
    const whole = await readFile(await served(`/agents/${agentId}`))
    for (const length of [0, 10, whole.length >> 1, whole.length - 1]) {
      const report = await runVerifyCertificate(await saved(whole.subarray(0, length)), byLog)
      expect(report).toMatchObject({
        ok: false,
        text: expect.stringContaining('the certificate is not JSON') as string,
      })
    }
    const huge = await saved(whole)
    await truncate(huge, 3 * 1024 ** 3)
    await expect(runVerifyCertificate(huge, byLog)).rejects.toThrow('has more than 4194304 bytes')
    await expect(runVerifyCertificate('/dev/zero', byLog)).rejects.toThrow('has more than 4194304 bytes')
  })

  test.for<[string, object, RegExp]>([
    ['a proof', { vkey: [LOG_VKEY], proof: 'x' }, /has its proof in it/],
    ['a receipt', { vkey: [LOG_VKEY], receipt: 'x' }, /has its proof in it/],
    ['a signature', { vkey: [LOG_VKEY], signature: 'x' }, /has its proof in it/],
    ['a witness without the log', { witness: [LOG_VKEY] }, /--witness goes with --vkey/],
    ['what is no key', { vkey: ['x'] }, /this is no verifier key: "x"/],
  ])('refuses %s beside it', async ([, options, reason]) => {
    const file = await served(`/agents/${agentId}`)
    await expect(runVerifyCertificate(file, { ...none, ...options })).rejects.toThrow(reason)
  })

  test('knows a certificate by its name and by its content', async () => {
    const whole = await readFile(await served(`/agents/${agentId}`))
    const old = whole.toString().replace('certificate@1', 'certificate@0')
    const payload = (await service.client.get(`/agents/${agentId}/verification`)).bytes
    for (const [target, is] of [
      [await saved('x'), true],
      [await saved(whole, '.json'), true],
      [await saved(whole.subarray(0, -9), ''), true],
      [await saved(old, '.json'), true],
      [await saved(payload, '.json'), false],
      [await saved(JSON.stringify({ name: '"format":"forecast-verification/certificate@1"' }), ''), false],
      [folder, false],
      ['/dev/zero', false],
      [join(folder, 'nothing'), false],
      ['https://fvs.example/certificate.fvs', false],
    ] as const)
      expect(await isCertificate(target), target).toBe(is)
  })
})

const hasPython = spawnSync('python3', ['--version']).error === undefined
if (!hasPython && process.env['CI'] === 'true') throw new Error('python3 is not installed')
const COMMANDS: [string, string, string[]][] = [
  ['examples/verify.js', process.execPath, [`${REPOSITORY}examples/verify.js`]],
  ['examples/verify.py', 'python3', [`${REPOSITORY}examples/verify.py`]],
  ['fvs verify', process.execPath, [`${REPOSITORY}jobs/fvs.js`, 'verify']],
]

describe.each(COMMANDS)('%s', (name, command, first) => {
  const isThere = hasPython || command !== 'python3'
  const ended = (file: string, keys: string[]) => {
    const given = name === 'fvs verify' ? keys.flatMap((key) => ['--vkey', key]) : keys
    return new RunningCommand(command, [...first, file, ...given], { cwd: folder }).ended
  }

  test.skipIf(!isThere)('checks a saved certificate, and refuses a changed and a huge one', async () => {
    const file = await served(`/agents/${agentId}`)
    const held = await ended(file, [LOG_VKEY])
    expect(held.code, held.stderr).toBe(0)
    expect(held.stdout).toContain(`verification of ${agentId}, release 1 of production, as of ${NOW}`)
    const text = decoded(await readFile(file))
    const changed = await ended(await saved(text.replace('"certification":"', '"certification":"x')), [
      LOG_VKEY,
    ])
    expect(changed.code).toBe(1)
    expect(changed.stdout + changed.stderr).toMatch(/not in the tree|does not hold/)
    const huge = await saved(text)
    await truncate(huge, 5 * 1024 * 1024)
    const refused = await ended(huge, [LOG_VKEY])
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('has more than 4194304 bytes')
  })

  test.skipIf(!isThere)('exits with 1 without a key, and with another one', async () => {
    const file = await served(`/agents/${agentId}`)
    for (const keys of [[], [verifierKeyText(STRANGER.verifier)]]) {
      const { code, stdout, stderr } = await ended(file, keys)
      expect(code).toBe(1)
      expect(stdout + stderr).toMatch(/public key of the log|give the key of the log|no known key of/)
      expect(stderr).not.toMatch(/Traceback|\n {4}at /)
    }
  })
})
