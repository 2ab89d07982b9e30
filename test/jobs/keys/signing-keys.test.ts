// `fvs log key` as an operator uses it: the key alone on standard output, and a setting that the service
// takes.
import { hash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { makeLogKey } from '../../../jobs/keys/signing-keys.ts'
import { signersOf } from '../../../jobs/components/log-signers.ts'
import { verifierKeyText } from '../../../pipeline/proof/note-keys.ts'
import { parseSettings } from '../../../schemas/config.ts'
import { testFolder } from '../../support/folder.ts'
import { fvs } from '../../support/process.ts'
import { vectors } from '../../support/transparency-vectors.ts'

const SEED = Buffer.alloc(32, 7)

/** The vkey of a key that was made, once the settings of an environment have it. */
function vkeyOf(setting: string, signingKey: string): string {
  const { production, sandbox } = signersOf(parseSettings({ [setting]: signingKey }))
  const keys = [...production, ...sandbox]
  expect(keys).toHaveLength(1)
  return verifierKeyText(keys[0]!.verifier)
}

describe('fvs log key', () => {
  test('prints the key alone on standard output, and on standard error what is public', async () => {
    const folder = await testFolder()
    const { code, stdout, stderr } = await fvs(['log', 'key', 'log.example/forecasts'], { folder })
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(
      /^PRIVATE\+KEY\+log\.example\/forecasts\+[0-9a-f]{8}\+A[Q-Za-f][A-Za-z0-9+/]{42}\n$/,
    )
    const vkey = stderr.trimEnd().split('\n').at(-1)!
    expect(vkeyOf('LOG_SIGNING_KEY', stdout.trimEnd())).toBe(vkey)
    expect(stderr).toContain('\nLOG_SIGNING_KEY=PRIVATE+KEY+…\n')
    expect(stderr).not.toContain(stdout.trimEnd().slice(-44))
    // It needs no store and begins none.
    expect(await readdir(folder)).toEqual([])
  })

  test('makes another key each time; with --json it prints one object and nothing else', async () => {
    const folder = await testFolder()
    const run = () => fvs(['log', 'key', 'log.example/sandbox', '--json'], { folder })
    const made = await Promise.all([run(), run()])
    const keys = made.map(({ code, stdout, stderr }) => {
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout.indexOf('\n')).toBe(stdout.length - 1)
      return JSON.parse(stdout) as { setting: string; signing_key: string; vkey: string }
    })
    for (const { setting, signing_key: signingKey, vkey, ...rest } of keys) {
      expect(rest).toEqual({ origin: 'log.example/sandbox', environment: 'sandbox' })
      expect(setting).toBe('SANDBOX_LOG_SIGNING_KEY')
      expect(vkeyOf(setting, signingKey)).toBe(vkey)
    }
    expect(keys[0]!.signing_key).not.toBe(keys[1]!.signing_key)
  })

  test('makes the key of the worked values from its seed', () => {
    const { seeds, keys } = vectors('fvs')
    const [, , origin] = keys.log.private.split('+')
    const [, text] = /^SHA-256\("(.*)"\)$/.exec(seeds.log)!
    expect(makeLogKey(origin!, hash('sha256', text!, 'buffer')).json).toMatchObject({
      signing_key: keys.log.private,
      vkey: keys.log.vkey,
    })
  })

  test.for([
    ['', 'must not be empty'],
    ['log.example forecasts', 'must have neither white space nor a plus sign'],
    ['log.example\u00a0forecasts', 'must have neither white space nor a plus sign'],
    ['log+example', 'must have neither white space nor a plus sign'],
    ['log.example\n', 'must not have the character U+000A'],
    ['log\u200b.example', 'must not have the character U+200B'],
    ['a'.repeat(201), 'must have at most 200 characters'],
  ] as const)('refuses the origin %j', ([origin, fault]) => {
    expect(() => makeLogKey(origin, SEED)).toThrow(`; it ${fault}`)
  })
})
