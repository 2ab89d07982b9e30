// The signing keys of the log: which settings are refused at boot, by their names, and that no key is ever
// shown.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withComponents } from '../../../jobs/components/components.ts'
import { signersOf } from '../../../jobs/components/log-signers.ts'
import { type KeyUse, signingKeyText } from '../../../pipeline/proof/note-keys.ts'
import { parseSettings } from '../../../schemas/config.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { ENVIRONMENTS } from '../../../schemas/values.ts'
import { testFolder } from '../../support/folder.ts'

const NAME = 'log.example/forecasts'
const SANDBOX_NAME = `${NAME}/sandbox`

const key = (seed: number, name = NAME, use: KeyUse = 'log') =>
  signingKeyText(name, use, Buffer.alloc(32, seed))
const signers = (variables: Record<string, string>) => signersOf(parseSettings(variables))
/** The last part of a key, which has its seed. */
const seedOf = (text: string) => text.split('+').slice(4).join('+')

function refusal(variables: Record<string, string>): string {
  try {
    signers(variables)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    expect(error.kind).toBe('invalid')
    const shown = JSON.stringify([error.message, error.faults, error.stack, String(error.cause)])
    for (const text of Object.values(variables)) expect(shown).not.toContain(seedOf(text))
    return error.message
  }
  throw new Error('not refused')
}

describe('the signing keys of the log', () => {
  test('are none where none is set', () => {
    expect(signers({})).toEqual({ production: [], sandbox: [] })
  })

  test('are those of each environment, the one that signs first at the front', () => {
    const { production, sandbox } = signers({
      LOG_SIGNING_KEY: key(2),
      LOG_SIGNING_KEY_PREVIOUS: key(1),
      SANDBOX_LOG_SIGNING_KEY: key(3, SANDBOX_NAME),
    })
    const ids = (keys: typeof production) => keys.map(({ verifier }) => `${verifier.name}+${verifier.keyId}`)
    const idOf = (text: string) => text.split('+').slice(2, 4).join('+')
    expect(ids(production)).toEqual([idOf(key(2)), idOf(key(1))])
    expect(ids(sandbox)).toEqual([idOf(key(3, SANDBOX_NAME))])
  })

  test.for(ENVIRONMENTS)('are refused in the settings of %s', (environment) => {
    const [setting, name] =
      environment === 'sandbox' ? ['SANDBOX_LOG_SIGNING_KEY', SANDBOX_NAME] : ['LOG_SIGNING_KEY', NAME]
    const previous = `${setting}_PREVIOUS`
    const ofNoType = key(1, name).replace(/\+AQ/, '+Ag')
    const ofOtherId = key(1, name).replace(/\+[0-9a-f]{8}\+/, '+00000000+')
    expect(refusal({ [setting]: ofNoType })).toMatch(new RegExp(`^${setting}: a signing key is PRIVATE`))
    expect(refusal({ [setting]: ofOtherId })).toBe(
      `${setting}: the id of the signing key is not that of its public key`,
    )
    expect(refusal({ [setting]: key(1, name), [previous]: ofOtherId })).toMatch(
      new RegExp(`^${previous}: the id`),
    )
    expect(refusal({ [setting]: key(1, name, 'witness') })).toBe(
      `${setting} is the key of a witness, not of a log`,
    )
    expect(refusal({ [previous]: key(1, name) })).toBe(
      `${previous} is set without ${setting}: there would be no log`,
    )
    expect(refusal({ [setting]: key(1, name), [previous]: key(2, `other/${name}`) })).toBe(
      `${setting} has the name "${name}" and ${previous} "other/${name}"; they must have one name, that of the log`,
    )
    expect(refusal({ [setting]: key(1, name), [previous]: key(1, name) })).toMatch(
      new RegExp(`^${setting} and ${previous} are the same key, so no key would be replaced; `),
    )
  })

  test('have a name that ends in /sandbox in the sandbox, and in no other environment', () => {
    expect(refusal({ SANDBOX_LOG_SIGNING_KEY: key(1) })).toBe(
      `SANDBOX_LOG_SIGNING_KEY has the name "${NAME}", which must end in /sandbox: that marks the log of the sandbox`,
    )
    expect(refusal({ LOG_SIGNING_KEY: key(1, SANDBOX_NAME) })).toBe(
      `LOG_SIGNING_KEY has the name "${SANDBOX_NAME}", which must not end in /sandbox: that marks the log of the sandbox`,
    )
    expect(signers({ LOG_SIGNING_KEY: key(1, 'log.example/sandbox/x') }).production).toHaveLength(1)
  })

  test('have other seeds in the sandbox than in production, also those that are being replaced', () => {
    const ours = { LOG_SIGNING_KEY: key(1), LOG_SIGNING_KEY_PREVIOUS: key(2) }
    const theirs = (current: number, previous: number) => ({
      SANDBOX_LOG_SIGNING_KEY: key(current, SANDBOX_NAME),
      SANDBOX_LOG_SIGNING_KEY_PREVIOUS: key(previous, SANDBOX_NAME),
    })
    for (const same of [theirs(1, 3), theirs(2, 3), theirs(3, 1), theirs(3, 2)]) {
      expect(refusal({ ...ours, ...same })).toMatch(
        /^the sandbox and production have the same signing key, .*SANDBOX_LOG_SIGNING_KEY/,
      )
    }
    expect(signers({ ...ours, ...theirs(3, 4) }).sandbox).toHaveLength(2)
  })
})

describe('the components', () => {
  const settingsIn = (folder: string, variables: Record<string, string>) =>
    parseSettings({
      STORE_URL: join(folder, 'store'),
      CACHE_DIR: join(folder, 'cache'),
      LOG_LEVEL: 'silent',
      ...variables,
    })

  test('have the keys of their environment', async () => {
    const settings = settingsIn(await testFolder(), {
      LOG_SIGNING_KEY: key(1),
      SANDBOX_LOG_SIGNING_KEY: key(2, SANDBOX_NAME),
    })
    for (const environment of ENVIRONMENTS) {
      const names = await withComponents(settings, environment, 'begins', (components) =>
        Promise.resolve(components.signers.map(({ verifier }) => verifier.name)),
      )
      expect(names).toEqual([environment === 'sandbox' ? SANDBOX_NAME : NAME])
    }
  })

  test('are not built with a key of either environment that is wrong, and no store is begun', async () => {
    const folder = await testFolder()
    const settings = settingsIn(folder, { SANDBOX_LOG_SIGNING_KEY: key(1) })
    const built = withComponents(settings, 'production', 'begins', () => Promise.resolve())
    await expect(built).rejects.toThrow('SANDBOX_LOG_SIGNING_KEY has the name')
    expect(existsSync(join(folder, 'store'))).toBe(false)
  })
})
