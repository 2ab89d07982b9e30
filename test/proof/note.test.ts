// Signed notes and their keys: worked examples, and texts that are no notes.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ServiceError } from '../../schemas/errors.ts'
import {
  type Note,
  noteText,
  parseNote,
  parseSignatureLine,
  signatureLine,
} from '../../pipeline/proof/note.ts'
import {
  parseSigningKey,
  parseVerifierKey,
  signingKeyOf,
  signingKeyText,
  verifierKeyText,
} from '../../pipeline/proof/note-keys.ts'
import { cosignText, heldSignatures, signText } from '../../pipeline/proof/note-signatures.ts'

const EXAMPLES = [
  {
    source: 'https://c2sp.org/signed-note, "Example"',
    vkey: 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k',
    note: 'This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n',
  },
  {
    source: 'golang.org/x/mod v0.42.0, sumdb/note, example_test.go',
    vkey: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
    note: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n",
  },
]
const PETER = 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz'

const LOG = signingKeyOf('log.example/a', 'log', Buffer.alloc(32, 1))
const OTHER = signingKeyOf('log.example/a', 'log', Buffer.alloc(32, 2))
const WITNESS = signingKeyOf('witness.example/w', 'witness', Buffer.alloc(32, 3))
/** RFC 8032 §5.1. */
const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n
const NOW = new Date('2026-11-22T12:00:00.789Z')
const TEXT = 'one\n\ntwo\n'
const SIGNED: Note = { text: TEXT, signatures: [signText(TEXT, LOG)] }

test.each(EXAMPLES)('reads, checks and writes the note of $source', async ({ vkey, note: text }) => {
  const note = parseNote(text)
  const key = parseVerifierKey(vkey)
  expect(await heldSignatures(note, [key])).toEqual([{ key, time: undefined }])
  expect(noteText(note)).toBe(text)
  expect(verifierKeyText(key)).toBe(vkey)
})

test('signs as golang.org/x/mod does (example_test.go)', () => {
  const key = parseSigningKey(PETER)
  const { text } = parseNote(EXAMPLES[1]!.note)
  expect(noteText({ text, signatures: [signText(text, key)] })).toBe(EXAMPLES[1]!.note)
  expect(verifierKeyText(key.verifier)).toBe(EXAMPLES[1]!.vkey)
})

test('a signing key is written as it is read', () => {
  for (const use of ['log', 'witness'] as const) {
    const seed = Buffer.alloc(32, 7)
    const text = signingKeyText('log.example/a', use, seed)
    expect(parseSigningKey(text).verifier).toEqual(signingKeyOf('log.example/a', use, seed).verifier)
  }
})

test('a text may hold empty lines: the last one ends it', () => {
  expect(parseNote(noteText(SIGNED))).toEqual(SIGNED)
})

describe('refuses what is no note:', () => {
  const good = noteText(SIGNED)
  const line = signatureLine(SIGNED.signatures[0]!)
  test.each([
    ['nothing', ''],
    ['no signature', 'text\n\n'],
    ['no empty line', `text\n${line}`],
    ['no text before the empty line', `\n${line}`],
    ['no line end at the end', good.slice(0, -1)],
    ['an empty line at the end', `${good}\n`],
    ['line ends of two characters', good.replaceAll('\n', '\r\n')],
    ['one line end of two characters', `${good.slice(0, -1)}\r\n`],
    ['a tab', good.replace('one', 'o\te')],
    ['a character zero', good.replace('one', 'o\0e')],
    ['half a character', good.replace('one', '\ud800')],
    ['a hyphen for the dash', good.replace('—', '-')],
    ['two spaces', good.replace('— ', '—  ')],
    ['more after the signature', good.replace(/\n$/, ' more\n')],
    ['no name', good.replace('log.example/a', '')],
    ['a plus in the name', good.replace('log.example/a', 'log+a')],
    ['a space of another width in the name', good.replace('log.example/a', 'log\u3000a')],
    ['base64 without its end', good.replace(/=+\n$/, '\n')],
    ['base64 for addresses', good.replace(/[^ ]+\n$/, `${'-_'.repeat(46)}\n`)],
    ['a bit behind the end of the base64', good.replace(/(.)=\n$/, (_, last: string) => `${next(last)}=\n`)],
    ['a key id alone', good.replace(/[^ ]+\n$/, 'AAAAAA==\n')],
    ['no signature after the name', good.replace(/ [^ ]+\n$/, '\n')],
    ['text among the signatures', `${good}text\n`],
  ])('%s', (_, text) => {
    expect(() => parseNote(text)).toThrow(ServiceError)
  })

  test('one of more than 64 KiB', () => {
    const room = 65_536 - Buffer.byteLength(good)
    const largest = `${'é'.repeat(Math.floor(room / 2))}${'e'.repeat(room % 2)}${good}`
    expect(parseNote(largest).text.endsWith(TEXT)).toBe(true)
    expect(() => parseNote(`e${largest}`)).toThrow('at most 65536 bytes, not 65537')
  })
})

test('takes at least 16 signatures, and any name that has no space and no plus', () => {
  const names = Array.from({ length: 16 }, (_, i) => `näme-${i}/—`)
  const signatures = names.map((name) => ({ name, keyId: '01020304', bytes: Buffer.of(5) }))
  const read = parseNote(noteText({ text: 'text\n', signatures }))
  expect(read.signatures.map(({ name }) => name)).toEqual(names)
})

test('any change to a note is refused or leaves no known signature', async () => {
  const good = Buffer.from(noteText(SIGNED))
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: good.length - 1 }), fc.integer({ min: 1, max: 127 }), async (at, mask) => {
      const bytes = Buffer.from(good)
      bytes[at]! ^= mask
      expect(await isHeld(bytes.toString('utf8'))).toBe(false)
    }),
    { numRuns: 500 },
  )
})

test('signatures of unknown keys do not count, also under a known name or id', async () => {
  const { name, keyId } = LOG.verifier
  const bytes = Buffer.alloc(64)
  const unknown = [
    { name, keyId: '00000000', bytes },
    { name: 'log.example/b', keyId, bytes },
    { name: 'x', keyId: 'ffffffff', bytes: Buffer.of(1) },
  ]
  const note = { text: TEXT, signatures: [...unknown, ...SIGNED.signatures, ...unknown] }
  expect((await heldSignatures(note, [LOG.verifier, OTHER.verifier])).map(({ key }) => key)).toEqual([
    LOG.verifier,
  ])
  expect(await heldSignatures(note, [OTHER.verifier])).toEqual([])
})

test('a signature of a known key that does not hold refuses the note, beside one that holds', async () => {
  const { name, keyId } = LOG.verifier
  for (const bytes of [Buffer.alloc(64), Buffer.alloc(63), Buffer.of(1), signText('other\n', LOG).bytes]) {
    const signatures = [signText(TEXT, OTHER), ...SIGNED.signatures, { name, keyId, bytes }]
    await expect(heldSignatures({ text: TEXT, signatures }, [LOG.verifier, OTHER.verifier])).rejects.toThrow(
      `${name}+${keyId} does not hold`,
    )
  }
})

test('the other form of a signature, with the order of the group added (RFC 8032 §5.1.7), does not hold', async () => {
  const { name, keyId } = LOG.verifier
  const bytes = Buffer.from(SIGNED.signatures[0]!.bytes)
  const scalar = BigInt(`0x${reversed(bytes.subarray(32)).toString('hex')}`) + GROUP_ORDER
  bytes.set(reversed(Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex')), 32)
  const note = { text: TEXT, signatures: [{ name, keyId, bytes }] }
  await expect(heldSignatures(note, [LOG.verifier])).rejects.toThrow('does not hold')
})

test('a signature that comes twice counts once', async () => {
  const note = { text: TEXT, signatures: [...SIGNED.signatures, ...SIGNED.signatures] }
  expect(await heldSignatures(note, [LOG.verifier, LOG.verifier])).toHaveLength(1)
})

test("a witness's signature has its time, which is signed too", async () => {
  const signature = cosignText(TEXT, WITNESS, NOW)
  const time = new Date('2026-11-22T12:00:00.000Z')
  expect(await heldSignatures({ text: TEXT, signatures: [signature] }, [WITNESS.verifier])).toEqual([
    { key: WITNESS.verifier, time },
  ])
  for (let at = 0; at < signature.bytes.byteLength; at += 1) {
    const bytes = Buffer.from(signature.bytes)
    bytes[at]! ^= 1
    const note = { text: TEXT, signatures: [{ ...signature, bytes }] }
    await expect(heldSignatures(note, [WITNESS.verifier])).rejects.toThrow('does not hold')
  }
  const { name, keyId } = WITNESS.verifier
  for (const bytes of [Buffer.alloc(8), Buffer.of(1), Buffer.alloc(72, 255), signText(TEXT, WITNESS).bytes]) {
    const note = { text: TEXT, signatures: [{ name, keyId, bytes }] }
    await expect(heldSignatures(note, [WITNESS.verifier])).rejects.toThrow('does not hold')
  }
})

test('a signature line comes back as it was', () => {
  const signature = SIGNED.signatures[0]!
  expect(parseSignatureLine(signatureLine(signature).trimEnd())).toEqual(signature)
})

describe('refuses what is no key:', () => {
  const vkey = EXAMPLES[0]!.vkey
  test.each([
    ['nothing', ''],
    ['no name', vkey.replace('example.com/foo', '')],
    ['a space in the name', vkey.replace('foo', 'f o')],
    ['another name', vkey.replace('foo', 'bar')],
    ['another id', vkey.replace('530d903a', '530d903b')],
    ['an id in upper case', vkey.replace('530d903a', '530D903A')],
    ['a shorter id', vkey.replace('530d903a', '530d903')],
    ['another key', vkey.replace('AekyeR', 'AekyeS')],
    ['another type', vkey.replace('AekyeR', 'AukyeR')],
    ['a shorter key', vkey.slice(0, -4)],
    ['more after it', `${vkey}\n`],
    ['a part more', `${vkey}+`],
  ])('%s', (_, text) => {
    expect(() => parseVerifierKey(text)).toThrow(/^this is no verifier key/)
  })

  test('a signing key, whose secret no message holds', () => {
    const texts = [
      PETER,
      PETER.slice(0, -1),
      PETER.replace('c74f20a3', 'c74f20a4'),
      PETER.replace('KEY+', 'KEY'),
    ]
    const secret = 'KFALVFGyNhPJEMzD1QIDr'
    for (const text of texts) {
      if (text.startsWith('PRIVATE+KEY+'))
        expect(messageOf(() => parseVerifierKey(text))).not.toContain(secret)
      if (text !== PETER) expect(messageOf(() => parseSigningKey(text))).not.toContain(secret)
    }
    expect(messageOf(() => parseSigningKey(vkey))).toContain('PRIVATE+KEY+<name>')
  })

  test('a name or a seed that no key can have', () => {
    for (const name of ['', 'a b', 'a+b', 'a\n', 'a\u00a0b', '\udc00']) {
      expect(() => signingKeyOf(name, 'log', Buffer.alloc(32))).toThrow('cannot have the name')
    }
    expect(() => signingKeyOf('a', 'log', Buffer.alloc(31))).toThrow('32 bytes, not 31')
  })
})

async function isHeld(text: string): Promise<boolean> {
  try {
    return (await heldSignatures(parseNote(text), [LOG.verifier])).length > 0
  } catch {
    return false
  }
}

function messageOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('nothing was refused')
}

function reversed(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.toReversed())
}

/** The next digit of base64. */
function next(digit: string): string {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  return digits[digits.indexOf(digit) + 1]!
}
