// Settings: each wrong one stops the boot and names itself, and no secret is ever shown.
import { describe, expect, test } from 'vitest'
import { parseSettings } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'

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
      ENVIRONMENT: 'production',
      RELEASE_SCHEDULE: '*/15 * * * *',
      DUCKDB_THREADS: 0,
      LOG_LEVEL: 'info',
    })
    expect(parseSettings({}).VERIFICATION_SIGNING_SECRET).toBeUndefined()
  })

  test('takes an empty variable for one that is not set, and leaves others alone', () => {
    expect(parseSettings({ PORT: '', VERIFICATION_SIGNING_SECRET: '', PATH: '/bin' })).toEqual(
      parseSettings({}),
    )
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
    ['ENVIRONMENT', 'staging'],
    ['S3_ENDPOINT', 'ftp://localhost'],
    ['S3_ENDPOINT', 'localhost:9000'],
    ['STORE_TIMEOUT_MS', '99'],
    ['DUCKDB_THREADS', '1025'],
    ['DUCKDB_MEMORY_LIMIT', 'much'],
    ['DUCKDB_MEMORY_LIMIT', '80%'],
    ['COMMIT_TIMEOUT_MS', '0'],
    ['COMMIT_QUEUE_LIMIT', '0'],
    ['REFRESH_MS', '1.5'],
    ['KEY_CACHE_MS', '10001'],
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

  test('names all that are wrong at once', () => {
    const { message, faults } = refusal({ PORT: 'x', LOG_LEVEL: 'y', ENVIRONMENT: 'z' })
    expect(message).toBe('wrong settings in the environment: ENVIRONMENT, PORT, LOG_LEVEL')
    expect(faults).toHaveLength(3)
  })

  test.for([' hush-hush', 'hush-hush ', 'hush-hush\n', '\thush-hush', '\u00a0hush-hush'])(
    'refuses a secret with white space around it, and does not show it: %j',
    (value) => {
      for (const name of ['VERIFICATION_SIGNING_SECRET', 'VERIFICATION_SIGNING_SECRET_PREVIOUS']) {
        const error = refusal({ VERIFICATION_SIGNING_SECRET: 'fine', [name]: value })
        expect(error.message).toContain(name)
        expect(JSON.stringify([error.message, error.faults, error.stack])).not.toContain('hush')
      }
    },
  )

  test('takes white space inside a secret', () => {
    expect(parseSettings({ VERIFICATION_SIGNING_SECRET: 'hush hush' }).VERIFICATION_SIGNING_SECRET).toBe(
      'hush hush',
    )
  })

  test('refuses a previous secret without a current one', () => {
    const error = refusal({ VERIFICATION_SIGNING_SECRET_PREVIOUS: 'hush-hush' })
    expect(error.message).toContain(
      'VERIFICATION_SIGNING_SECRET_PREVIOUS is set without VERIFICATION_SIGNING_SECRET',
    )
    expect(error.message).not.toContain('hush-hush')
  })
})
