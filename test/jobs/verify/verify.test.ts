// `fvs verify`: signatures of answers, shards and bulk answers, genuine and tampered.
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { runVerify as run } from '../../../jobs/verify/verify.ts'
import { canonical } from '../../../pipeline/proof/canonical.ts'
import { signatureOf } from '../../../pipeline/proof/hmac.ts'
import { parseSettings } from '../../../schemas/config.ts'
import { testFolder } from '../../support/folder.ts'
import { test } from '../../support/http/fixtures.ts'
import { OTHER_SECRET, SECRET, type TestService } from '../../support/http/service.ts'
import { contentOf } from '../../support/store-content.ts'
import { NOW, forecasterId, uuidOf } from '../../support/worlds/world.ts'

let service: TestService
let agentId: string
test.beforeAll(({ world, service: given }) => {
  ;({ agentId } = world)
  service = given
})

const BECAUSE = 'the interval of its skill is not above 0'
const SEEN = 'the service saw 0 % of its settled questions being forecast'
const PATH = `/forecaster/${forecasterId(0)}/verification`
const settings = (current = SECRET, previous = '') =>
  parseSettings({ VERIFICATION_SIGNING_SECRET: current, VERIFICATION_SIGNING_SECRET_PREVIOUS: previous })

const runVerify = (given: ReturnType<typeof settings>, target: string, signature: string | undefined) =>
  run(given, target, { signature, environment: 'production' }, new Date(NOW))

async function file(content: string | Uint8Array): Promise<string> {
  const path = join(await testFolder(), 'signed.json')
  await writeFile(path, content)
  return path
}

describe('a URL', () => {
  test.for(['verification', 'metrics', 'rankings', 'advanced-metrics'])('of %s holds', async (call) => {
    const target = `${service.url}/forecaster/${forecasterId(0)}/${call}`
    const report = await runVerify(settings(), target, undefined)
    const record = { witnessed_share: 0 }
    const award = { name: target, award: 'measured', because: BECAUSE, record }
    const [kind, id, as_of] = [`forecaster-${call}`, forecasterId(0), NOW]
    const records = [{ kind, id, environment: 'production', release: 1, as_of }]
    expect(report).toEqual({
      ok: true,
      json: {
        target,
        ok: true,
        checked: 1,
        failed: [],
        records,
        awards: call === 'verification' ? [award] : [],
      },
      text: `${target}: the signature holds\n  ${kind} of ${id}, release 1 of production, as of ${as_of}${call === 'verification' ? `\n  measured, because ${BECAUSE}; ${SEEN}` : ''}`,
    })
  })

  test('of snapshots holds', async () => {
    for (const query of ['', '?start_date=2026-03-01&end_date=2026-03-01', '?start_date=2030-01-01']) {
      const target = `${service.url}/snapshots/forecaster/${forecasterId(0)}${query}`
      expect((await runVerify(settings(), target, undefined)).json).toMatchObject({ ok: true, checked: 1 })
      expect((await runVerify(settings(OTHER_SECRET), target, undefined)).ok).toBe(false)
    }
  })

  test('does not hold under another secret', async () => {
    const target = service.url + PATH
    const { ok, json, text } = await runVerify(settings(OTHER_SECRET), target, undefined)
    expect(ok).toBe(false)
    expect(json).toMatchObject({ ok: false, failed: [target] })
    expect(text).toContain('not signed with this secret, or changed since')
  })

  test('holds if the previous secret made the signature', async () => {
    expect((await runVerify(settings(OTHER_SECRET, SECRET), service.url + PATH, undefined)).ok).toBe(true)
  })

  test('does not hold if its answer was changed or its signature removed on the way', async () => {
    const { bytes, headers } = await service.client.get(PATH)
    const signature = String(headers['x-service-signature'])
    const proxy = createServer((request, response) => {
      if (request.url?.startsWith('/changed'))
        response.setHeader('X-Service-Signature', signature).end(bytes.toString().replace('measured', 'none'))
      else if (request.url?.startsWith('/unsigned')) response.end(bytes)
      else response.setHeader('X-Service-Signature', signature).end(bytes)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void proxy.close())
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    expect((await runVerify(settings(), `${url}/same${PATH}`, undefined)).ok).toBe(true)
    expect((await runVerify(settings(), `${url}/changed${PATH}`, undefined)).ok).toBe(false)
    const unsigned = await runVerify(settings(), `${url}/unsigned${PATH}`, undefined)
    expect(unsigned.ok).toBe(false)
    expect(unsigned.text).toContain('unsigned')
  })

  test('does not hold if its numbers give another badge, although it is signed', async () => {
    const { bytes } = await service.client.get(PATH)
    const signed = async (text: string) => {
      const signature = signatureOf(new TextEncoder().encode(text), { current: SECRET })
      return runVerify(settings(), await file(text), signature)
    }
    const certified = await signed(bytes.toString().replace('measured', 'certified'))
    expect(certified).toMatchObject({ ok: false, json: { failed: [expect.any(String)], awards: [] } })
    expect(certified.text).toContain(`it says certified, and its numbers give measured, because ${BECAUSE}`)
    const another = await signed(
      bytes.toString().replace('"4.0.0"', '"9.0.0"').replace('measured', 'certified'),
    )
    expect(another.ok).toBe(true)
    expect(another.text).toContain(
      'certified, because method 9.0.0 says so, which this version of the service',
    )
  })

  test('of an agent says whose it is, and what a title alone would hide', async () => {
    const { bytes } = await service.client.get(`/agents/${agentId}/verification`)
    const said = async (facts: object) => {
      const text = new TextDecoder().decode(
        canonical({ ...(JSON.parse(bytes.toString()) as object), ...facts }),
      )
      return runVerify(
        settings(),
        await file(text),
        signatureOf(new TextEncoder().encode(text), { current: SECRET }),
      )
    }
    const facts = { owner_id: 'rook', retired_at: '2026-02-01T00:00:00.000Z', witnessed_share: 0.98765 }
    const { text, json } = await said(facts)
    expect(text).toMatch(
      / {2}\w+, because [^;]+; named "an agent", of the owner "rook", retired at 2026-02-01T00:00:00\.000Z, the service saw 98\.77 % of its settled questions being forecast$/,
    )
    expect(json).toMatchObject({ awards: [{ record: { name: 'an agent', ...facts } }] })
    expect((await said({ witnessed_share: null })).text).toMatch(
      /; named "an agent", of no recorded owner, nothing settled$/,
    )
  })

  test('that answers with an error or not at all is reported', async () => {
    const missing = `${service.url}/forecaster/${uuidOf(9, 9)}/verification`
    await expect(runVerify(settings(), missing, undefined)).rejects.toMatchObject({
      kind: 'unavailable',
      message: `${missing} answered 404`,
    })
    const silent = `http://127.0.0.1:1${PATH}`
    await expect(runVerify(settings(), silent, undefined)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining(`${silent} does not answer (`) as string,
    })
  })
})

describe('a file', () => {
  const shard = async () =>
    new TextDecoder().decode(
      await service.components.store.get(`releases/00000001/forecaster/${forecasterId(0)}.json`),
    )
  const bulk = async () =>
    (
      await service.client.post('/verification/bulk', {
        entity_type: 'forecaster',
        ids: [forecasterId(1), forecasterId(2), uuidOf(9, 9)],
      })
    ).text

  test('with a payload holds with its signature', async () => {
    const { bytes, headers } = await service.client.get(PATH)
    const signature = String(headers['x-service-signature'])
    expect((await runVerify(settings(), await file(bytes), signature)).ok).toBe(true)
    expect((await runVerify(settings(), await file(bytes), `v1=${'0'.repeat(64)}, ${signature}`)).ok).toBe(
      true,
    )
    for (const changed of [
      Buffer.concat([bytes, Buffer.from('\n')]),
      Buffer.from(bytes.toString().replace('measured', 'none')),
    ]) {
      expect((await runVerify(settings(), await file(changed), signature)).ok).toBe(false)
    }
    for (const wrong of [
      '',
      'v1=',
      signature.slice(0, -1),
      signature.toUpperCase(),
      signature.replace('v1=', 'v2='),
    ]) {
      expect((await runVerify(settings(), await file(bytes), wrong)).ok, wrong).toBe(false)
    }
  })

  test('with a shard holds, with every payload in it', async () => {
    const path = await file(await shard())
    const report = await runVerify(settings(), path, undefined)
    expect(report.json).toMatchObject({ ok: true, checked: 36, failed: [] })
    expect(report.text).toMatch(/: all 36 signatures hold$/m)
    expect(report.text).toContain(
      `  verification of ${forecasterId(0)}: measured, because ${BECAUSE}; ${SEEN}`,
    )
    expect(report.text.split('\n')).toHaveLength(1 + 2 + 6)
  })

  test('with a shard of a snapshot holds, every row of it, until one is changed', async () => {
    const [path] = Object.keys(await contentOf(service.components.store, 'snapshots/')).filter((name) =>
      name.includes('/forecaster/'),
    )
    const text = new TextDecoder().decode(await service.components.store.get(path!))
    const report = await runVerify(settings(), await file(text), undefined)
    expect(report.json).toMatchObject({ ok: true, checked: 6, failed: [] })
    const changed = await file(text.replace('"badge":"measured"', '"badge":"certified"'))
    const { json } = await runVerify(settings(), changed, undefined)
    expect(json).toMatchObject({ ok: false, checked: 6, failed: [`snapshot of ${forecasterId(0)}`] })
  })

  test('with a shard in which one value was changed does not hold, and the entity is named', async () => {
    const changed = (await shard()).replace('"badge":"measured"', '"badge":"certified"')
    const report = await runVerify(settings(), await file(changed), undefined)
    expect(report.json).toMatchObject({ ok: false, failed: [`rankings of ${forecasterId(0)}`] })
    expect(report.text).toContain('1 of 36 payloads do not hold')
  })

  test('with a bulk answer holds, and does not if one payload was changed', async () => {
    expect((await runVerify(settings(), await file(await bulk()), undefined)).json).toMatchObject({
      ok: true,
      checked: 2,
    })
    const changed = (await bulk()).replace(/"skill":0\.\d/, '"skill":0.9')
    expect((await runVerify(settings(), await file(changed), undefined)).json).toMatchObject({
      ok: false,
      failed: [forecasterId(1)],
    })
  })

  test('with payloads under the ids of others does not hold, although each is signed', async () => {
    const [first, second] = [forecasterId(1), forecasterId(2)]
    const swap = (text: string, field: string) =>
      text
        .replaceAll(`${field}${first}"`, `${field}#"`)
        .replaceAll(`${field}${second}"`, `${field}${first}"`)
        .replaceAll(`${field}#"`, `${field}${second}"`)
    const swappedBulk = await runVerify(settings(), await file(swap(await bulk(), '"id":"')), undefined)
    expect(swappedBulk.json).toMatchObject({ ok: false, failed: [second, first] })
    expect(swappedBulk.text).toContain(`${first}: another record than was asked for: it has the id`)
    // The ids of a shard's entities follow a brace or a comma.
    const shardText = (await shard())
      .replaceAll(`"${first}":{`, '"#":{')
      .replaceAll(`"${second}":{`, `"${first}":{`)
    const swappedShard = await runVerify(
      settings(),
      await file(shardText.replace('"#":{', `"${second}":{`)),
      undefined,
    )
    expect(swappedShard.json).toMatchObject({ ok: false, checked: 36 })
    expect(swappedShard.text).toContain('12 of 36 payloads do not hold')
  })

  test('with a bulk answer in which no id was found has nothing to check', async () => {
    const unknown = await service.client.post('/verification/bulk', {
      entity_type: 'agent',
      ids: [uuidOf(9, 9)],
    })
    await expect(runVerify(settings(), await file(unknown.bytes), undefined)).rejects.toThrow(
      'holds no payload to check',
    )
  })

  test('with a shard of a service that does not sign does not hold', async () => {
    const unsigned = (await shard()).replaceAll(/"signature":"[^"]+"/g, '"signature":null')
    const report = await runVerify(settings(), await file(unsigned), undefined)
    expect(report.ok).toBe(false)
    expect(report.text.match(/: unsigned$/gm)).toHaveLength(20)
  })

  test.for([
    ['another JSON', '{"a":1}', /holds no signatures: give the payload's with --signature/],
    ['text that is not JSON', 'payload', /is not JSON/],
    ['nothing', '', /is not JSON/],
  ] as const)('with %s is refused', async ([, content, message]) => {
    await expect(runVerify(settings(), await file(content), undefined)).rejects.toThrow(message)
  })

  test('that does not exist is refused', async () => {
    await expect(runVerify(settings(), '/nowhere/signed.json', undefined)).rejects.toThrow(
      '/nowhere/signed.json cannot be read',
    )
  })
})

describe('without a secret', () => {
  test('nothing can be checked', async () => {
    await expect(runVerify(settings(''), service.url + PATH, undefined)).rejects.toThrow(
      'set VERIFICATION_SIGNING_SECRET',
    )
  })
})
