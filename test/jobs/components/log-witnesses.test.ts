// The witnesses of the log: what the setting may hold, and that each refusal names the setting and what is
// wrong in it.
import { describe, expect, test } from 'vitest'
import { witnessesOf } from '../../../jobs/components/log-witnesses.ts'
import { signingKeyOf, signingKeyText, verifierKeyText } from '../../../pipeline/proof/note-keys.ts'
import { parseSettings } from '../../../schemas/config.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { ENVIRONMENTS, type Environment } from '../../../schemas/values.ts'
import { witnessKey } from '../../support/loopback-witness.ts'

const SEED = new Uint8Array(32).fill(7)
const KEYS = {
  LOG_SIGNING_KEY: signingKeyText('log.example', 'log', SEED),
  SANDBOX_LOG_SIGNING_KEY: signingKeyText('log.example/sandbox', 'log', new Uint8Array(32).fill(8)),
}
const vkeyOf = (name: string) => verifierKeyText(witnessKey(name).verifier)
const ONE = vkeyOf('one.example')

function refusal(value: string, setting = 'LOG_WITNESSES', keys: object = KEYS): string {
  try {
    witnessesOf(parseSettings({ ...keys, [setting]: value }))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    expect(error.kind).toBe('invalid')
    return [error.message, ...error.faults.map(({ pointer, detail }) => `${pointer} ${detail}`)].join('\n')
  }
  throw new Error(`${value} was not refused`)
}

describe.for(ENVIRONMENTS)('the witnesses of %s', (environment: Environment) => {
  const setting = environment === 'sandbox' ? 'SANDBOX_LOG_WITNESSES' : 'LOG_WITNESSES'

  test('are none, one or several', () => {
    const parsed = (value: string) => witnessesOf(parseSettings({ ...KEYS, [setting]: value }))[environment]
    expect(parsed('')).toEqual([])
    expect(parsed(`${ONE} https://one.example/`)).toEqual([
      { key: witnessKey('one.example').verifier, url: 'https://one.example' },
    ])
    const several = `${ONE} https://one.example/a/b/, ${vkeyOf('two.example')} http://127.0.0.1:8000`
    expect(parsed(several).map(({ key, url }) => [key.name, url])).toEqual([
      ['one.example', 'https://one.example/a/b'],
      ['two.example', 'http://127.0.0.1:8000'],
    ])
  })

  test('are refused in another form, with the value', () => {
    const form = /must be <vkey> <url>, several by commas/
    for (const value of [
      ONE,
      `${ONE} `,
      `${ONE}  https://one.example`,
      `https://one.example ${ONE}`,
      `${ONE} https://one.example x`,
      `${ONE} https://one.example,`,
      `${ONE} https://one.example ${ONE} https://two.example`,
      'one.example https://one.example',
    ]) {
      expect(refusal(value, setting), value).toMatch(form)
      expect(refusal(value, setting)).toContain(`(it is ${JSON.stringify(value)})`)
      expect(refusal(value, setting)).toMatch(new RegExp(`^wrong settings in the environment: ${setting}\\n`))
    }
  })

  test('have a URL of http or https alone', () => {
    for (const url of ['ftp://one.example', 'file:///one', 'one.example', '//one.example', 'https://']) {
      expect(refusal(`${ONE} ${url}`, setting), url).toMatch(/the URL of a witness must be http\[s\]:/)
    }
    for (const url of [
      'https://one.example?a',
      'https://one.example#a',
      'https://user:password@one.example',
    ]) {
      expect(refusal(`${ONE} ${url}`, setting), url).toMatch(/the URL of a witness must have no query/)
    }
  })

  test('have keys of witnesses, each once', () => {
    const at = 'https://one.example'
    const wrongId = ONE.replace(/\+[0-9a-f]{8}\+/, '+00000000+')
    expect(refusal(`${wrongId} ${at}`, setting)).toMatch(
      new RegExp(`^${setting}: this is no verifier key, whose id would be [0-9a-f]{8}: "one\\.example\\+`),
    )
    const ofLog = verifierKeyText(signingKeyOf('log.example', 'log', SEED).verifier)
    expect(refusal(`${ofLog} ${at}`, setting)).toBe(
      `${setting}: this is the key of a log, not of a witness: ${JSON.stringify(ofLog)}`,
    )
    expect(refusal(`${ONE} ${at}, ${ONE} https://two.example`, setting)).toBe(
      `${setting} has two keys of one id, ${JSON.stringify(ONE)} again`,
    )
  })

  test('need a log', () => {
    const missing = setting.replace('WITNESSES', 'SIGNING_KEY')
    expect(refusal(`${ONE} https://one.example`, setting, {})).toBe(
      `${setting} is set without ${missing}: there would be nothing to cosign`,
    )
  })
})
