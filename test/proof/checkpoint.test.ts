// Checkpoints: worked texts, and notes that are no checkpoints of ours.
import { describe, expect, test } from 'vitest'
import { ServiceError } from '../../schemas/errors.ts'
import { base64Of, hashOfBase64 } from '../../pipeline/proof/base64.ts'
import {
  checkpointText,
  parseCheckpoint,
  parseCount,
  signedCheckpoint,
  withSignatures,
} from '../../pipeline/proof/checkpoint.ts'
import { noteText } from '../../pipeline/proof/note.ts'
import { signingKeyOf } from '../../pipeline/proof/note-keys.ts'
import { cosignText, heldSignatures } from '../../pipeline/proof/note-signatures.ts'

const ROOT = 'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I='
const ORIGIN = 'example.com/behind-the-sofa'
const TEXT = `${ORIGIN}\n20852163\n${ROOT}\n`
const CHECKPOINT = { origin: ORIGIN, size: 20_852_163, root: hashOfBase64(ROOT) }
const KEYS = [1, 2].map((seed) => signingKeyOf(ORIGIN, 'log', Buffer.alloc(32, seed)))
const WITNESS = signingKeyOf('witness.example/w', 'witness', Buffer.alloc(32, 3))

test('has the text of https://c2sp.org/tlog-checkpoint', () => {
  expect(checkpointText(CHECKPOINT)).toBe(TEXT)
})

test('is read as it was signed, by both keys of a rotation, with a cosignature behind', async () => {
  const signed = signedCheckpoint(CHECKPOINT, KEYS)
  const { checkpoint, note } = parseCheckpoint(signed)
  expect({ ...checkpoint, root: base64Of(checkpoint.root) }).toEqual({ ...CHECKPOINT, root: ROOT })
  const cosignature = cosignText(note.text, WITNESS, new Date(1_679_315_147_000))
  const whole = withSignatures(note, [cosignature])
  expect(whole.startsWith(signed)).toBe(true)
  const keys = [WITNESS, ...KEYS].map(({ verifier }) => verifier)
  const held = await heldSignatures(parseCheckpoint(whole).note, keys)
  expect(held.map(({ key, time }) => [key.name, time?.getTime()])).toEqual([
    [ORIGIN, undefined],
    [ORIGIN, undefined],
    ['witness.example/w', 1_679_315_147_000],
  ])
})

describe('refuses a checkpoint with', () => {
  test.each([
    ['no origin', TEXT.replace(ORIGIN, '')],
    ['two lines', `${ORIGIN}\n20852163\n`],
    ['an extension line', `${TEXT}extension\n`],
    ['an empty line behind', `${TEXT}\n`],
    ['a size with a leading zero', TEXT.replace('20852163', '020852163')],
    ['a negative size', TEXT.replace('20852163', '-1')],
    ['a size with an exponent', TEXT.replace('20852163', '2e7')],
    ['a size above 2^53 - 1', TEXT.replace('20852163', '9007199254740992')],
    ['no size', TEXT.replace('20852163', '')],
    ['a root of 31 bytes', TEXT.replace(ROOT, base64Of(Buffer.alloc(31)))],
    ['a root of 33 bytes', TEXT.replace(ROOT, base64Of(Buffer.alloc(33)))],
    ['a root in hex', TEXT.replace(ROOT, Buffer.alloc(32).toString('hex'))],
    ['no root', TEXT.replace(ROOT, '')],
  ])('%s', (_, text) => {
    const note = noteText({ text, signatures: [{ name: 'a', keyId: '00000000', bytes: Buffer.alloc(64) }] })
    expect(() => parseCheckpoint(note)).toThrow(ServiceError)
  })
})

test('numbers are decimal without leading zeros, up to 2^53 - 1', () => {
  for (const count of [0, 1, 10, 2 ** 53 - 1]) expect(parseCount(String(count))).toBe(count)
  for (const text of ['', '00', '01', '+1', '-0', '1.0', '1e3', ' 1', '1 ', '0x1', '١', '9'.repeat(40)]) {
    expect(() => parseCount(text)).toThrow(`this is no number of leaves: ${JSON.stringify(text)}`)
  }
})
