// The keys of credentials: which settings are refused at boot, by their names, and that no key is ever shown.
import { describe, expect, test } from 'vitest'
import { credentialIssuersOf } from '../../../jobs/components/credential-issuer.ts'
import { credentialKeyText, parseCredentialKey } from '../../../pipeline/credentials/keys.ts'
import { parseSettings } from '../../../schemas/config.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { testFolder } from '../../support/folder.ts'
import { fvs } from '../../support/process.ts'

const PUBLIC_URL = 'https://forecasts.example.org/room/'
const key = (seed: number) => credentialKeyText(new Uint8Array(32).fill(seed))
const issuers = (variables: Record<string, string>) => credentialIssuersOf(parseSettings(variables))

function refusal(variables: Record<string, string>): string {
  try {
    issuers(variables)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    expect(error.kind).toBe('invalid')
    const shown = JSON.stringify([error.message, error.faults, error.stack, String(error.cause)])
    for (const [name, text] of Object.entries(variables)) {
      if (name !== 'PUBLIC_URL') expect(shown).not.toContain(text)
    }
    return `${error.message} ${JSON.stringify(error.faults)}`
  }
  throw new Error('not refused')
}

describe('the issuer of credentials', () => {
  test('is nobody where no key is set', () => {
    expect(issuers({ PUBLIC_URL })).toEqual({ production: undefined, sandbox: undefined })
  })

  test('has the address of its environment, and the key that signs at the front', () => {
    const { production, sandbox } = issuers({
      PUBLIC_URL,
      CREDENTIAL_SIGNING_KEY: key(2),
      CREDENTIAL_SIGNING_KEY_PREVIOUS: key(1),
      SANDBOX_CREDENTIAL_SIGNING_KEY: key(3),
    })
    const keysOf = (own: typeof production) => own?.keys.map(({ multikey }) => multikey)
    const multikey = (seed: number) => parseCredentialKey(key(seed)).multikey
    expect([production?.url, keysOf(production)]).toEqual([
      'https://forecasts.example.org/room',
      [multikey(2), multikey(1)],
    ])
    expect([sandbox?.url, keysOf(sandbox)]).toEqual([
      'https://forecasts.example.org/room/sandbox',
      [multikey(3)],
    ])
  })

  test.for([
    ['a key without an address', { CREDENTIAL_SIGNING_KEY: key(1) }, 'set without PUBLIC_URL'],
    [
      'an old key alone',
      { PUBLIC_URL, SANDBOX_CREDENTIAL_SIGNING_KEY_PREVIOUS: key(1) },
      'SANDBOX_CREDENTIAL_SIGNING_KEY_PREVIOUS is set without SANDBOX_CREDENTIAL_SIGNING_KEY',
    ],
    [
      'one key twice',
      { PUBLIC_URL, CREDENTIAL_SIGNING_KEY: key(1), CREDENTIAL_SIGNING_KEY_PREVIOUS: key(1) },
      'are the same key',
    ],
    [
      'one key in both environments',
      { PUBLIC_URL, CREDENTIAL_SIGNING_KEY: key(1), SANDBOX_CREDENTIAL_SIGNING_KEY: key(1) },
      'the sandbox and production have the same key of credentials',
    ],
    [
      'a key that is cut',
      { PUBLIC_URL, CREDENTIAL_SIGNING_KEY: key(1).slice(0, -1) },
      '`fvs credential key` makes one',
    ],
    [
      'a key with another code',
      { PUBLIC_URL, CREDENTIAL_SIGNING_KEY: `z3u2z${'z'.repeat(43)}` },
      'CREDENTIAL_SIGNING_KEY: the key of credentials must be as',
    ],
  ] as const)('is refused: %s', ([, variables, message]) => {
    expect(refusal(variables)).toContain(message)
  })
})

test('fvs credential key prints a key that the settings take, and the public half on standard error', async () => {
  const folder = await testFolder()
  const { code, stdout, stderr } = await fvs(['credential', 'key'], { folder })
  expect(code, stderr).toBe(0)
  const made = issuers({ PUBLIC_URL, CREDENTIAL_SIGNING_KEY: stdout.trimEnd() }).production
  expect(stderr.trimEnd().split('\n').at(-1)).toBe(made?.keys[0]?.multikey)
  expect(stderr).not.toContain(stdout.trimEnd())
})
