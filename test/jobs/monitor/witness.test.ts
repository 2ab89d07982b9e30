// `fvs witness`: what it keeps of a log that grows, and that a log which shows another history is refused
// with both notes.
import { chmod, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { knownCheckpoint } from '../../../jobs/monitor/state-file.ts'
import { runWitness } from '../../../jobs/monitor/witness.ts'
import { decoded, encoded } from '../../../pipeline/proof/canonical.ts'
import { parseCheckpoint } from '../../../pipeline/proof/checkpoint.ts'
import { parseNote, signatureLine } from '../../../pipeline/proof/note.ts'
import {
  type SigningKey,
  signingKeyOf,
  signingKeyText,
  verifierKeyText,
} from '../../../pipeline/proof/note-keys.ts'
import { cosignText, heldSignatures } from '../../../pipeline/proof/note-signatures.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { logCheckpointPath } from '../../../pipeline/store/paths.ts'
import { completeLog } from '../../../pipeline/transparency/publish.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { testFolder } from '../../support/folder.ts'
import { ORIGIN, manifestOf, putManifest, putReleases, signer } from '../../support/worlds/logged-releases.ts'
import { closedUrl, listening, witnessKey } from '../../support/loopback-witness.ts'
import { fvs, startFvs } from '../../support/process.ts'
import { type ServedLog, servedLog } from '../../support/served-log.ts'

const LOG = signer('first')
const VKEY = verifierKeyText(LOG.verifier)
const NOW = new Date('2026-03-01T12:00:00.000Z')
const WITNESS_SEED = new Uint8Array(32).fill(9)
const WITNESS = signingKeyOf('witness.example', 'witness', WITNESS_SEED)

let folder: string
let state: string
let served: ServedLog
beforeEach(async () => {
  folder = await testFolder()
  state = join(folder, 'state')
  served = await servedLog(await logOf(3))
})

/** A log of releases, of which one may say something else than in the others' history. */
async function logOf(size: number, changed?: number, signers: SigningKey[] = [LOG]): Promise<MemoryStore> {
  const store = new MemoryStore()
  await putReleases(store, size)
  if (changed !== undefined)
    await putManifest(store, { ...manifestOf(changed), methodology_version: '9.9.9' })
  await completeLog({ store, signers, witnesses: [], log: () => undefined }, size)
  return store
}

const noteOf = ({ store }: ServedLog, size: number) =>
  (store as MemoryStore).objects.get(logCheckpointPath(size))!

interface Options {
  vkey?: string[]
  keyFile?: string
  url?: string
}

async function look({ vkey = [VKEY], keyFile, url = served.url }: Options = {}) {
  const { ok, json, ...said } = await runWitness(url, { vkey, state, keyFile }, NOW)
  expect(ok).toBe(true)
  return { ...said, json: json as { continuation: string; size: number; known_size: number | null } }
}

const kept = () => readFile(state, 'utf8')

/** The note of the checkpoint that is kept. */
const keptNote = async () => (JSON.parse(await kept()) as { checkpoint: string }).checkpoint

/** What was refused, and that the file is as it was, with nothing beside it. */
async function refusal(options: Options = {}): Promise<ServiceError> {
  const [before, beside] = [await kept().catch(() => undefined), await readdir(folder)]
  const error: unknown = await look(options).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ServiceError)
  expect(await kept().catch(() => undefined)).toBe(before)
  expect(await readdir(folder)).toEqual(beside)
  return error as ServiceError
}

async function writtenKey(
  text = signingKeyText('witness.example', 'witness', WITNESS_SEED),
): Promise<string> {
  const file = join(folder, 'witness.key')
  await writeFile(file, `${text}\n`, { mode: 0o600 })
  return file
}

describe('a log that grows', () => {
  test('is taken as it is at first, and then must continue what it has shown', async () => {
    const first = await look()
    expect(first.json).toMatchObject({ continuation: 'first', size: 3, known_size: null })
    expect(first.text).toBe(
      `${ORIGIN} has 3 entries, the first that is kept, so that they were taken as they are`,
    )
    expect(await keptNote()).toBe(decoded(noteOf(served, 3)))
    expect((await look()).text).toBe(`${ORIGIN} has 3 entries, as before`)
    served.store = await logOf(300)
    expect((await look()).text).toBe(`${ORIGIN} has 300 entries, which continue the 3 from before`)
    expect(await keptNote()).toBe(decoded(noteOf(served, 300)))
  })

  test('must continue a checkpoint that was kept by other means', async () => {
    await writeFile(state, noteOf(served, 3))
    served.store = await logOf(5)
    expect((await look()).json).toMatchObject({ continuation: 'grown', known_size: 3 })
    expect(await keptNote()).toBe(decoded(noteOf(served, 5)))
  })

  test('gives its file to an audit, as a checkpoint that the log must continue', async () => {
    await look()
    for (const content of [await kept(), noteOf(served, 3)]) {
      await writeFile(state, content)
      const checkpointBy = await knownCheckpoint(state)
      expect((await checkpointBy([LOG.verifier])).checkpoint.size).toBe(3)
      await expect(checkpointBy([signer('second').verifier])).rejects.toThrow(/no key that was given/)
    }
  })

  test('is kept in the file of a monitor, whose records stay', async () => {
    const record = { record: '{"as_of":"2026-03-01T12:00:00.000Z","release":3}', proof: 'a proof' }
    const seen = { corrections_to: 3, entities: { 'agent:x': record, 'agent:y': null } }
    await writeFile(state, JSON.stringify({ checkpoint: decoded(noteOf(served, 3)), ...seen }))
    served.store = await logOf(5)
    await look()
    expect(JSON.parse(await kept())).toEqual({ checkpoint: decoded(noteOf(served, 5)), ...seen })
  })

  test('is followed over every kind of step, also where partial tiles are gone', async () => {
    const store = await logOf(1)
    served.store = store
    for (const size of [1, 2, 5, 8, 255, 256, 257, 300, 512, 515]) {
      await putReleases(store, size)
      await completeLog({ store, signers: [LOG], witnesses: [], log: () => undefined }, size)
      expect((await look()).json.size).toBe(size)
    }
    expect(served.asked).toContain('log/tile/0/001')
  })

  test('that has not grown is not asked for tiles', async () => {
    await look()
    served.asked.length = 0
    await look()
    expect(served.asked).toEqual(['log/checkpoint'])
  })

  test('is followed while its key is replaced', async () => {
    const next = signer('second')
    const [both, second] = [[VKEY, verifierKeyText(next.verifier)], [verifierKeyText(next.verifier)]]
    await look()
    served.store = await logOf(4, undefined, [next])
    expect((await refusal()).message).toMatch(
      /\/log\/checkpoint: no key that was given has signed it: has its operator replaced the key\?$/,
    )
    expect((await refusal({ vkey: second })).message).toMatch(
      /state: no key that was given has signed it: has its operator replaced the key\?$/,
    )
    expect((await look({ vkey: both })).json.size).toBe(4)
    expect((await look({ vkey: second })).json.size).toBe(4)
  })
})

describe('another history', () => {
  const notes = (message: string) => message.split(/\n\nkept:\n|\nfound:\n/).slice(1)

  test.for([
    ['of the same size', 3, 1],
    ['of the same size', 3, 3],
    ['that is larger', 4, 2],
    ['that is larger', 300, 1],
    ['that is smaller', 2, 1],
  ] as const)('%s is refused with both notes: %i entries, another one is %i', async ([, size, changed]) => {
    await look()
    const first = noteOf(served, 3)
    // Tiles of the first history, as a service would need to show the old one to us.
    const fork = await logOf(size, changed)
    if (size < 3) served.instead.set('log/checkpoint', fork.objects.get(logCheckpointPath(size)))
    else served.store = fork
    const { kind, message } = await refusal()
    expect(kind).toBe('conflict')
    expect(message).toMatch(/: the log has signed two histories: /)
    expect(notes(message)).toEqual([decoded(first), decoded(fork.objects.get(logCheckpointPath(size))!)])
    // It is refused as often as it is shown, and what continues the first is taken again.
    expect((await refusal()).kind).toBe('conflict')
    served.instead.clear()
    served.store = await logOf(5)
    expect((await look()).json).toMatchObject({ continuation: 'grown', known_size: 3 })
  })

  test('cannot be shown by the tiles of the first one', async () => {
    await look()
    const fork = await logOf(4, 2)
    served.store = await logOf(4)
    served.instead.set('log/checkpoint', fork.objects.get(logCheckpointPath(4)))
    expect(await refusal()).toMatchObject({ kind: 'corrupt' })
  })

  test('is told from an old copy, which is refused in other words', async () => {
    await look()
    served.instead.set('log/checkpoint', noteOf(served, 2))
    const { kind, message } = await refusal()
    expect(kind).toBe('conflict')
    expect(message).toMatch(
      /: this checkpoint is older than the one that is known, 2 entries of the same 3: an old copy/,
    )
    expect(notes(message)).toEqual([decoded(noteOf(served, 3)), decoded(noteOf(served, 2))])
    // A log that was set back has no tiles that would tell.
    served.instead.clear()
    served.store = await logOf(2)
    expect(await refusal()).toMatchObject({ kind: 'corrupt' })
  })
})

describe('refused, and nothing is kept:', () => {
  test('a tile with a changed byte, at the first look and later', async () => {
    for (const known of [0, 3]) {
      served.instead.clear()
      if (known > 0) await look()
      served.store = await logOf(5)
      const path = 'log/tile/0/000.p/5'
      const tile = (served.store as MemoryStore).objects.get(path)!
      for (let at = 0; at < tile.length; at += 7) {
        const flipped = Buffer.from(tile)
        flipped[at]! ^= 1
        served.instead.set(path, flipped)
        expect((await refusal()).message).toMatch(/the tiles of 5 leaves are not those of their root/)
      }
      served.instead.set(path, tile.subarray(0, -1))
      expect((await refusal()).message).toMatch(/has 159 bytes, not 5 hashes/)
      served.instead.set(path, 404)
      expect((await refusal()).message).toMatch(/log\/tile\/0\/000\.p\/5 is gone/)
      served.store = await logOf(3)
    }
  })

  test('the checkpoint of another log, of another key, and what is no checkpoint', async () => {
    served.store = await logOf(3, undefined, [signer('first', 'another.example/log')])
    expect((await refusal()).message).toMatch(/this is the log "another\.example\/log", not "log\.example/)
    served.store = await logOf(3, undefined, [signer('second')])
    expect((await refusal()).message).toMatch(/no key that was given has signed it/)
    const [text, good] = [
      decoded(noteOf(served, 3)),
      decoded((await logOf(3)).objects.get(logCheckpointPath(3))!),
    ]
    for (const wrong of [
      '',
      'no note',
      good.replace('\n3\n', '\n4\n'),
      `${text}x`,
      good.replace('\n3\n', '\n0\n'),
    ]) {
      served.instead.set('log/checkpoint', encoded(wrong))
      expect((await refusal()).kind, wrong).toMatch(/invalid|unavailable/)
    }
    served.instead.set('log/checkpoint', Buffer.alloc(500, 0xff))
    expect((await refusal()).message).toMatch(/not UTF-8/)
  })

  test('answers that are too large, redirect, fail, or do not come', async () => {
    for (const [answer, reason] of [
      [Buffer.alloc(10_000_000), /answers with more than 65536 bytes/],
      [302, /answered 302/],
      [500, /answered 500/],
      [404, /has no public log, or one without an entry/],
    ] as const) {
      served.instead.set('log/checkpoint', answer)
      expect(await refusal()).toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(reason) as string,
      })
    }
    served.instead.set('log/checkpoint', noteOf(served, 3))
    served.instead.set('log/tile/0/000.p/3', Buffer.alloc(10_000_000))
    expect((await refusal()).message).toMatch(/answers with more than 65536 bytes/)
    expect((await refusal({ url: await closedUrl() })).message).toMatch(/does not answer/)
    const broken = await listening((_, response) => response.destroy())
    expect((await refusal({ url: broken })).message).toMatch(/does not answer/)
  })

  test('a file that is no checkpoint of this log', async () => {
    for (const [text, reason] of [
      ['', /the note has no empty line/],
      ['nothing', /the note has no empty line/],
      [decoded(noteOf(served, 3)).slice(0, -5), /no line end/],
      [
        decoded((await logOf(3, 1, [signer('first', 'x.example')])).objects.get(logCheckpointPath(3))!),
        /is the log "x/,
      ],
      [decoded(noteOf(served, 3)).replace('\n3\n', '\n2\n'), /does not hold/],
    ] as const) {
      await writeFile(state, text)
      expect((await refusal()).message).toMatch(reason)
    }
    await writeFile(state, '')
    await mkdir(join(folder, 'directory'))
    state = join(folder, 'directory')
    expect((await refusal()).message).toMatch(/directory cannot be read$/)
    state = join(folder, 'missing', 'state')
    expect((await refusal()).message).toMatch(/state cannot be written: /)
  })

  test('wrong keys and addresses', async () => {
    const witness = verifierKeyText(WITNESS.verifier)
    expect((await refusal({ vkey: [witness] })).message).toMatch(/give the key of the log/)
    const other = verifierKeyText(signer('first', 'x.example').verifier)
    expect((await refusal({ vkey: [VKEY, other] })).message).toMatch(/the keys of one log have one name/)
    expect((await refusal({ vkey: ['x'] })).message).toMatch(/no verifier key/)
    for (const url of ['ftp://x.example', 'x.example', `${served.url}?a=b`]) {
      expect((await refusal({ url })).message).toMatch(/the address of a service is http/)
    }
  })

  test('what another call has replaced meanwhile', async () => {
    await look()
    served.store = await logOf(5)
    const later = await logOf(6)
    const replaced = later.objects.get(logCheckpointPath(6))!
    const inner = served.url
    const url = await listening((request, response) => {
      void (async () => {
        // Another call comes in between.
        if (request.url !== '/log/checkpoint') await writeFile(state, replaced)
        response.end(Buffer.from(await (await fetch(inner + request.url)).arrayBuffer()))
      })()
    })
    await expect(look({ url })).rejects.toThrow(/another call has replaced .*state; nothing was kept/)
    expect(await kept()).toBe(decoded(replaced))
  })
})

describe('with a key', () => {
  const assertCosigned = async () => {
    const note = parseNote(await keptNote())
    expect(await heldSignatures(note, [LOG.verifier, WITNESS.verifier])).toEqual([
      { key: LOG.verifier, time: undefined },
      { key: WITNESS.verifier, time: NOW },
    ])
    return note
  }

  test('the note is cosigned, printed and kept, once for each checkpoint', async () => {
    const file = await writtenKey()
    for (const size of [3, 5]) {
      served.store = await logOf(size)
      const { text, aside } = await look({ keyFile: file })
      const note = await assertCosigned()
      expect(text).toBe(signatureLine(note.signatures[1]!).trimEnd())
      expect(aside).toMatch(new RegExp(` has ${size} entries, `))
      const before = await stat(state)
      expect((await look({ keyFile: file })).text).toBe(text)
      expect((await stat(state)).ino).toBe(before.ino)
    }
    expect(parseCheckpoint(await keptNote()).checkpoint.size).toBe(5)
  })

  test('that comes later, what is kept is cosigned', async () => {
    await look()
    await look({ keyFile: await writtenKey() })
    await assertCosigned()
  })

  test('what the service shows as cosigned by it is not believed; cosignatures of others are kept', async () => {
    const own = decoded(noteOf(served, 3))
    const { text } = parseNote(own)
    const other = cosignText(text, witnessKey('other.example'), NOW)
    const forged = { ...other, ...WITNESS.verifier, name: 'witness.example', bytes: Buffer.alloc(72) }
    served.instead.set('log/checkpoint', encoded(own + signatureLine(forged) + signatureLine(other)))
    await look({ keyFile: await writtenKey() })
    const note = parseNote(await keptNote())
    expect(note.signatures.map(({ name }) => name)).toEqual([ORIGIN, 'other.example', 'witness.example'])
    expect(await heldSignatures(note, [WITNESS.verifier])).toHaveLength(1)
  })

  test('a log that shows another history is not cosigned', async () => {
    await look({ keyFile: await writtenKey() })
    served.store = await logOf(4, 2)
    expect((await refusal({ keyFile: await writtenKey() })).kind).toBe('conflict')
  })

  test('that others may read, that is of a log, or that is none, it refuses', async () => {
    const file = await writtenKey()
    for (const mode of [0o640, 0o604, 0o660]) {
      await chmod(file, mode)
      expect((await refusal({ keyFile: file })).message).toBe(
        `others may read ${file}, which holds a secret: chmod 600 ${file}`,
      )
    }
    await chmod(file, 0o600)
    const link = join(folder, 'link')
    await symlink(file, link)
    await look({ keyFile: link })
    await writeFile(file, signingKeyText('x.example', 'log', WITNESS_SEED))
    expect((await refusal({ keyFile: file })).message).toMatch(/witness\.key: this is the key of a log/)
    await writeFile(file, 'hush-hush')
    const { message } = await refusal({ keyFile: file })
    expect(message).toMatch(/witness\.key: a signing key is PRIVATE/)
    expect(message).not.toContain('hush')
    expect((await refusal({ keyFile: join(folder, 'none') })).message).toMatch(/none cannot be read/)
  })
})

describe('the command', () => {
  const args = (...more: string[]) => ['witness', served.url, '--vkey', VKEY, '--state', state, ...more]

  test('exits with 0, and with 1 and both notes on standard error where the log does not continue', async () => {
    const made = await fvs(['log', 'key', 'witness.example', '--witness'], { folder })
    expect(made.stdout).toMatch(/^PRIVATE\+KEY\+witness\.example\+[0-9a-f]{8}\+B[A-P][A-Za-z0-9+/]{42}\n$/)
    expect(made.stderr).toMatch(/\nwitness\.example\+[0-9a-f]{8}\+B[A-P][A-Za-z0-9+/]{42}\n$/)
    const file = await writtenKey(made.stdout.trim())
    const first = await fvs(args('--key-file', file), { folder })
    expect(first.code, first.stderr).toBe(0)
    expect(first.stdout).toMatch(/^— witness\.example [A-Za-z0-9+/]+=*\n$/)
    expect(first.stderr).toBe(
      `${ORIGIN} has 3 entries, the first that is kept, so that they were taken as they are\n`,
    )
    expect(await keptNote()).toBe(decoded(noteOf(served, 3)) + first.stdout)
    const fork = (served.store = await logOf(4, 2))
    const forked = await fvs(args(), { folder })
    expect([forked.code, forked.stdout]).toEqual([1, ''])
    expect(forked.stderr).toContain(
      `\nkept:\n${decoded((await logOf(3)).objects.get(logCheckpointPath(3))!)}`,
    )
    expect(forked.stderr).toContain(`\nfound:\n${decoded(fork.objects.get(logCheckpointPath(4))!)}`)
    const json = await fvs(args('--json'), { folder })
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { kind: 'conflict' } })
    expect(json.stderr).toBe(forked.stderr)
  })

  test('needs its options', async () => {
    const { code, stderr } = await fvs(['witness', served.url], { folder })
    expect([code, stderr]).toEqual([2, expect.stringMatching(/--vkey/)])
  })

  test('that is ended while the log is silent leaves the file as it was', async () => {
    await look()
    const before = await readdir(folder)
    served.store = await logOf(5)
    served.instead.set('log/tile/0/000.p/5', undefined)
    const running = startFvs(args(), { folder })
    await expect.poll(() => served.asked).toContain('log/tile/0/000.p/5')
    running.child.kill('SIGINT')
    expect((await running.finished).signal).toBe('SIGINT')
    expect(parseCheckpoint(await keptNote()).checkpoint.size).toBe(3)
    expect(await readdir(folder)).toEqual(before)
  })
})
