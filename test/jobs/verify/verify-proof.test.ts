// `fvs verify --vkey`: proofs and receipts of the worked values, from files and over HTTP, with public keys
// alone.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runVerifyProof } from '../../../jobs/verify/verify-proof.ts'
import { suiteFolder } from '../../support/folder.ts'
import { listening } from '../../support/loopback-witness.ts'
import { BATCH } from '../../support/worlds/proof-world.ts'
import { vectors } from '../../support/transparency-vectors.ts'

const folder = await suiteFolder()
let files = 0
async function file(text: string): Promise<string> {
  files += 1
  const path = join(folder, `${files}`)
  await writeFile(path, text)
  return path
}

describe('with the worked values', () => {
  const { keys, forecast_proof: forecast, receipts } = vectors('fvs')
  const none = { vkey: [] as string[], witness: [] as string[] }

  test('a proof holds, from files', async () => {
    const [body, proof] = [await file(forecast.body), await file(forecast.proof)]
    const options = { vkey: [keys.log.vkey], proof, witness: [] }
    const report = await runVerifyProof(body, options)
    expect(report.ok, report.text).toBe(true)
    expect(report.text).toMatch(
      /: the proof holds\n {2}forecast of .*, release 3 of .*, as of .*\n {2}by the agent .*\n {2}that release has taken it in as a forecast\n {2}it is entry 2 /,
    )
    expect(report.json).toMatchObject({ tree: 'forecasts', checkpoint: { size: 3 }, cosigned_by: [] })
    const { forecast_id: id } = JSON.parse(forecast.body) as { forecast_id: string }
    const url = await listening((_, response) => void response.end(forecast.proof))
    for (const [asked, ok] of [
      [`/forecasts/${id}/proof`, true],
      [`/forecasts/${BATCH}/proof`, false],
      ['/kept-elsewhere', true],
    ] as const) {
      const fetched = await runVerifyProof(body, { ...options, proof: url + asked })
      expect(fetched, asked).toMatchObject({ ok, json: { ok, record: { kind: 'forecast', id } } })
    }
  })

  test('the proof of a file comes from where the call says', async () => {
    const { vkey, payload_proofs: payloads } = vectors('log700')
    const saved = runVerifyProof(await file(payloads[1]!.body), { ...none, vkey: [vkey] })
    await expect(saved).rejects.toThrow('give the proof of the file with --proof, or its --receipt')
  })

  test('witnesses that are asked for must all have signed', async () => {
    const [body, proof] = [await file(forecast.body), await file(forecast.proof)]
    const options = { vkey: [keys.log.vkey], proof, witness: [keys.witness.vkey] }
    expect((await runVerifyProof(body, options)).json).toMatchObject({
      ok: true,
      cosigned_by: [expect.any(String)],
    })
    const without = forecast.proof
      .split('\n')
      .filter((line) => !line.includes(keys.witness.vkey.split('+')[0]!))
    const report = await runVerifyProof(body, { ...options, proof: await file(without.join('\n')) })
    expect(report).toMatchObject({
      ok: false,
      text: expect.stringContaining('cosignatures of 0 known witnesses, not of 1') as string,
    })
  })

  test('a changed body, another key and another proof do not hold', async () => {
    const [body, proof] = [await file(forecast.body), await file(forecast.proof)]
    const changed = await file(forecast.body.replace('0.731', '0.732'))
    for (const [target, options] of [
      [changed, { vkey: [keys.log.vkey], proof }],
      [body, { vkey: ['another.example/log+' + keys.log.vkey.split('+').slice(1).join('+')], proof }],
      [body, { vkey: [keys.log.vkey], proof: await file(receipts[0]!.receipt) }],
      [await file(`${forecast.body}\n`), { vkey: [keys.log.vkey], proof }],
    ] as const) {
      const report = await runVerifyProof(target, { ...none, ...options }).catch((error: Error) => error)
      if (report instanceof Error) expect(report.message).toMatch(/verifier key/)
      else
        expect(report).toMatchObject({ ok: false, text: expect.stringContaining('does not hold') as string })
    }
  })

  test('receipts hold as the header has them, also copied with its name', async () => {
    for (const { body, header } of receipts) {
      for (const text of [header, `X-Service-Receipt: ${header}\r\n`]) {
        const options = { ...none, vkey: [keys.log.vkey, keys.log_two.vkey], receipt: await file(text) }
        const report = await runVerifyProof(await file(body), options)
        expect(report.ok, report.text).toBe(true)
        expect(report.text).toMatch(/the service has acknowledged it in batch /)
      }
    }
  })

  test.for<[string, Partial<Parameters<typeof runVerifyProof>[1]>, RegExp]>([
    ['no key', { proof: 'x' }, /--vkey/],
    ['a proof and a receipt', { vkey: ['x'], proof: 'x', receipt: 'x' }, /--proof or --receipt, not both/],
    ['a file that cannot be read', { vkey: [keys.log.vkey], proof: 'x' }, /x cannot be read/],
    ['a witness of a receipt', { vkey: ['x'], receipt: 'x', witness: ['x'] }, /no witness sees receipts/],
    ['what is no key', { vkey: ['x'], proof: 'x' }, /this is no verifier key: "x"/],
  ])('refuses %s', async ([, options, reason]) => {
    await expect(runVerifyProof('x', { ...none, ...options })).rejects.toThrow(reason)
  })
})
