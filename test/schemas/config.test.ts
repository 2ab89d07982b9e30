// Every wrong setting is refused with its name, and no secret is ever shown.
import { describe, expect, test } from 'vitest'
import { parseSettings, settingsOf } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'

/** A secret of the least length allowed. */
const LONG = 'hush-hush-hush-hush-hush-hush-hu'

function refusal(variables: Record<string, string>): ServiceError {
  try {
    parseSettings(variables)
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  throw new Error('not refused')
}

describe('parseSettings', () => {
  test('has a default for everything but the secrets', () => {
    expect(parseSettings({})).toMatchObject({
      STORE_URL: './data',
      HOST: '127.0.0.1',
      PORT: 3000,
      RELEASE_SCHEDULE: '*/15 * * * *',
      DUCKDB_THREADS: 0,
      LOG_LEVEL: 'info',
    })
    expect(parseSettings({}).VERIFICATION_SIGNING_SECRET).toBeUndefined()
  })

  test('treats an empty variable as one that is not set, and ignores foreign variables', () => {
    expect(parseSettings({ PORT: '', VERIFICATION_SIGNING_SECRET: '', PATH: '/bin' })).toEqual(
      parseSettings({}),
    )
  })

  test('takes the public address without a slash at its end', () => {
    expect(parseSettings({ PUBLIC_URL: 'https://example.org/forecasts/' }).PUBLIC_URL).toBe(
      'https://example.org/forecasts',
    )
  })

  test('takes the words of the operator', () => {
    const words = {
      SERVICE_NAME: 'Wer weiß’s?',
      OPERATOR_NAME: '東京 "Forecasts" <& Co>',
      CONTACT_URL: 'mailto:office@example.org?subject=Forecasts',
      IMPRINT_URL: 'https://example.org/imprint#who',
    }
    expect(parseSettings(words)).toMatchObject(words)
    expect(parseSettings({}).SERVICE_NAME).toBe('Forecast verification')
  })

  test('takes numbers in decimal', () => {
    expect(parseSettings({ PORT: '0', DUCKDB_THREADS: '007', COMMIT_TIMEOUT_MS: '60000' })).toMatchObject({
      PORT: 0,
      DUCKDB_THREADS: 7,
      COMMIT_TIMEOUT_MS: 60_000,
    })
  })

  test.for([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80 '],
    ['PORT', '0x50'],
    ['PORT', '8e1'],
    ['PORT', 'http'],
    ['PORT', '9'.repeat(400)],
    ['S3_ENDPOINT', 'ftp://localhost'],
    ['S3_ENDPOINT', 'localhost:9000'],
    ['PUBLIC_URL', 'example.org'],
    ['PUBLIC_URL', 'https://example.org/?a=b'],
    ['PUBLIC_URL', 'https://somebody:secret@example.org'],
    ['SERVICE_NAME', 'n'.repeat(61)],
    ['SERVICE_NAME', ' padded'],
    ['SERVICE_NAME', 'two\nlines'],
    ['OPERATOR_NAME', 'turned \u202e round'],
    ['OPERATOR_NAME', 'n'.repeat(121)],
    ['CONTACT_URL', 'javascript:alert(1)'],
    ['CONTACT_URL', 'http://example.org'],
    ['CONTACT_URL', 'office@example.org'],
    ['IMPRINT_URL', 'mailto:office@example.org'],
    ['PRIVACY_URL', `https://example.org/${'n'.repeat(500)}`],
    ['DATA_LICENCE_URL', 'CC BY 4.0'],
    ['STORE_TIMEOUT_MS', '99'],
    ['DUCKDB_THREADS', '1025'],
    ['DUCKDB_MEMORY_LIMIT', 'much'],
    ['DUCKDB_MEMORY_LIMIT', '80%'],
    ['COMMIT_TIMEOUT_MS', '0'],
    ['COMMIT_QUEUE_LIMIT', '0'],
    ['REFRESH_MS', '1.5'],
    ['KEY_CACHE_MS', '9001'],
    ['SHARD_CACHE_BYTES', '1GB'],
    ['REQUEST_TIMEOUT_MS', '1'],
    ['MAX_CONNECTIONS', '0'],
    ['SHUTDOWN_TIMEOUT_MS', 'never'],
    ['LOG_LEVEL', 'loud'],
  ] as const)('refuses %s=%s and names it with its value', ([name, value]) => {
    const error = refusal({ [name]: value })
    expect(error.kind).toBe('invalid')
    expect(error.message).toBe(`wrong settings in the environment: ${name}`)
    expect(error.faults).toHaveLength(1)
    expect(error.faults[0]).toMatchObject({
      pointer: name,
      detail: expect.stringContaining(JSON.stringify(value)) as string,
    })
  })

  test('names all wrong settings at once', () => {
    const { message, faults } = refusal({ PORT: 'x', LOG_LEVEL: 'y', STORE_TIMEOUT_MS: 'z' })
    expect(message).toBe('wrong settings in the environment: STORE_TIMEOUT_MS, PORT, LOG_LEVEL')
    expect(faults).toHaveLength(3)
  })

  test.for([' hush-hush', 'hush-hush ', 'hush-hush\n', '\thush-hush', '\u00a0hush-hush'])(
    'refuses a secret with white space around it, and does not show it: %j',
    (value) => {
      for (const name of ['VERIFICATION_SIGNING_SECRET', 'SANDBOX_VERIFICATION_SIGNING_SECRET_PREVIOUS']) {
        const error = refusal({ VERIFICATION_SIGNING_SECRET: LONG, [name]: value })
        expect(error.message).toContain(name)
        expect(JSON.stringify([error.message, error.faults, error.stack])).not.toContain('hush')
      }
    },
  )

  test('accepts white space inside a secret', () => {
    const text = LONG.replace('-', ' ')
    expect(parseSettings({ VERIFICATION_SIGNING_SECRET: text }).VERIFICATION_SIGNING_SECRET).toBe(text)
  })

  test('refuses a previous secret without a current one', () => {
    const error = refusal({ VERIFICATION_SIGNING_SECRET_PREVIOUS: LONG })
    expect(error.message).toContain(
      'VERIFICATION_SIGNING_SECRET_PREVIOUS is set without VERIFICATION_SIGNING_SECRET',
    )
    expect(error.message).not.toContain(LONG)
  })

  test.for(['VERIFICATION_SIGNING_SECRET', 'SANDBOX_VERIFICATION_SIGNING_SECRET'])(
    'refuses a previous secret that is the same as %s, and does not show it',
    (name) => {
      const { message } = refusal({ [name]: LONG, [`${name}_PREVIOUS`]: LONG })
      expect(message).toContain(`${name} and ${name}_PREVIOUS have the same value`)
      expect(message).not.toContain(LONG)
    },
  )

  test.for(['VERIFICATION_SIGNING_SECRET', 'SANDBOX_VERIFICATION_SIGNING_SECRET'])(
    'refuses a %s of fewer than 32 bytes, and does not show it',
    (name) => {
      const error = refusal({ [name]: LONG.slice(1) })
      expect(error.faults).toEqual([
        { pointer: name, detail: expect.stringMatching(/^must have at least 32 bytes/) as string },
      ])
      expect(JSON.stringify([error.message, error.faults])).not.toContain('hush')
      // Characters may have several bytes.
      expect(parseSettings({ [name]: '🦉'.repeat(8) })).toHaveProperty(name, '🦉'.repeat(8))
    },
  )

  test('refuses the same secret in both environments', () => {
    const secrets = {
      VERIFICATION_SIGNING_SECRET: LONG.toUpperCase(),
      VERIFICATION_SIGNING_SECRET_PREVIOUS: LONG,
      SANDBOX_VERIFICATION_SIGNING_SECRET: LONG,
    }
    const { message } = refusal(secrets)
    expect(message).toMatch(/the sandbox and production have the same signing secret/)
    expect(message).not.toContain(LONG)
  })

  test.for([
    'hush-hush',
    'log.example+0a1b2c3d+hush',
    `PRIVATE+KEY+log.example+0a1b2c3d+hush${'A'.repeat(39)}`,
    `PRIVATE+KEY+log.example+0a1b2c3d+hush${'A'.repeat(41)}`,
    `PRIVATE+KEY+log.example+0A1B2C3D+hush${'A'.repeat(40)}`,
    `PRIVATE+KEY+log example+0a1b2c3d+hush${'A'.repeat(40)}`,
    `PRIVATE+KEY+log\u200b.example+0a1b2c3d+hush${'A'.repeat(40)}`,
    `PRIVATE+KEY++0a1b2c3d+hush${'A'.repeat(40)}`,
    ` PRIVATE+KEY+log.example+0a1b2c3d+hush${'A'.repeat(40)}`,
    `PRIVATE+KEY+log.example+0a1b2c3d+hush${'A'.repeat(40)}\n`,
  ])('refuses a key of the log that has another form, and does not show it: %j', (value) => {
    for (const name of [
      'LOG_SIGNING_KEY',
      'LOG_SIGNING_KEY_PREVIOUS',
      'SANDBOX_LOG_SIGNING_KEY',
      'SANDBOX_LOG_SIGNING_KEY_PREVIOUS',
    ]) {
      const error = refusal({ [name]: value })
      expect(error.faults).toEqual([
        { pointer: name, detail: expect.stringMatching(/^must be PRIVATE\+KEY\+<name>\+/) as string },
      ])
      expect(JSON.stringify([error.message, error.faults, error.stack])).not.toContain('hush')
    }
  })

  test('does not show the URL of Redis, because it contains the password', () => {
    const { message, faults } = refusal({ REDIS_URL: 'http://:hush-hush@localhost' })
    expect(message).toBe('wrong settings in the environment: REDIS_URL')
    expect(JSON.stringify(faults)).not.toContain('hush')
  })

  test('gives the sandbox its own settings, under their own names', () => {
    const settings = parseSettings({ FORECASTS_PER_MINUTE: '7', SANDBOX_FORECASTS_PER_MINUTE: '9' })
    expect(settingsOf(settings, 'production')).toMatchObject({
      FORECASTS_PER_MINUTE: 7,
      FREE_MONTHLY_CALLS: 100,
      RELEASE_SCHEDULE: '*/15 * * * *',
    })
    expect(settingsOf(settings, 'sandbox')).toMatchObject({
      FORECASTS_PER_MINUTE: 9,
      FREE_MONTHLY_CALLS: 1_000,
      RELEASE_SCHEDULE: '* * * * *',
    })
  })
})
