// The public log as a run makes it: what it writes, cut off at every write, by two at once, by other keys,
// and over damage.
import { beforeEach, describe, expect, test } from 'vitest'
import { base64Of } from '../../pipeline/proof/base64.ts'
import { decoded } from '../../pipeline/proof/canonical.ts'
import { parseCheckpoint } from '../../pipeline/proof/checkpoint.ts'
import { MerkleTree, leafHash } from '../../pipeline/proof/merkle.ts'
import { verifyConsistency } from '../../pipeline/proof/merkle-proof.ts'
import type { SigningKey } from '../../pipeline/proof/note-keys.ts'
import { heldSignatures } from '../../pipeline/proof/note-signatures.ts'
import { consistencyFromTiles, inclusionFromTiles } from '../../pipeline/proof/tiles.ts'
import { verifyInclusion } from '../../pipeline/proof/merkle-proof.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { logCheckpointPath, manifestPath } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { readBundle, readCheckpoint, tileReader } from '../../pipeline/transparency/log-files.ts'
import { completeLog } from '../../pipeline/transparency/publish.ts'
import { statementOf } from '../../pipeline/transparency/statement.ts'
import { FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { ORIGIN, manifestOf, putManifest, putReleases, signer } from '../support/worlds/logged-releases.ts'
import { copyOf } from '../support/store-content.ts'

const FIRST = signer('first')
const SECOND = signer('second')

let store: MemoryStore
beforeEach(() => {
  store = new MemoryStore()
})

interface Logged {
  events: string[]
}

async function complete(over: Store, current: number, ...signers: SigningKey[]): Promise<Logged> {
  const events: string[] = []
  await completeLog(
    {
      store: over,
      signers: signers.length > 0 ? signers : [FIRST],
      witnesses: [],
      log: (event) => events.push(event),
    },
    current,
  )
  return { events }
}

const logOf = ({ objects }: MemoryStore) =>
  new Map(
    [...objects].filter(([path]) => path.startsWith('log/')).map(([path, bytes]) => [path, base64Of(bytes)]),
  )

const statements = (size: number) =>
  Array.from({ length: size }, (_, index) => statementOf(manifestOf(index + 1)))
const treeOf = (size: number) => new MerkleTree(statements(size).map(leafHash))

/** Everything that a reader relies on, for the log of the first releases. */
async function assertLog(size: number, ...keys: SigningKey[]): Promise<void> {
  const { checkpoint, note } = await readCheckpoint(store, size)
  const tree = treeOf(size)
  expect(checkpoint).toEqual({ origin: ORIGIN, size, root: tree.root })
  const known = keys.map(({ verifier }) => verifier)
  expect((await heldSignatures(note, known)).map(({ key }) => key)).toEqual(known)
  const read = tileReader(store)
  for (const index of new Set([0, Math.floor(size / 2), size - 1])) {
    const leaf = leafHash(statements(size)[index]!)
    verifyInclusion(leaf, index, await inclusionFromTiles(index, size, read), checkpoint)
  }
  for (const old of new Set([1, Math.ceil(size / 3), size])) {
    const path = await consistencyFromTiles(old, size, read)
    verifyConsistency({ size: old, root: treeOf(old).root }, checkpoint, path)
  }
  const width = size % 256 === 0 ? 256 : size % 256
  const entries = await readBundle(store, { index: Math.ceil(size / 256) - 1, width })
  expect(entries.map(decoded)).toEqual(statements(size).slice(-width).map(decoded))
}

describe('completing the log', () => {
  test('writes an entry and a checkpoint for each release, which no later one changes', async () => {
    await putReleases(store, 3)
    for (let release = 1; release <= 3; release++) {
      const before = logOf(store)
      await complete(store, release)
      await assertLog(release, FIRST)
      for (const [path, text] of before) expect(logOf(store).get(path)).toBe(text)
    }
    expect([...logOf(store).keys()].toSorted()).toEqual([
      'log/checkpoints/00000001',
      'log/checkpoints/00000002',
      'log/checkpoints/00000003',
      'log/tile/0/000.p/1',
      'log/tile/0/000.p/2',
      'log/tile/0/000.p/3',
      'log/tile/entries/000.p/1',
      'log/tile/entries/000.p/2',
      'log/tile/entries/000.p/3',
    ])
  })

  test('does nothing without a key, and nothing again', async () => {
    await putReleases(store, 2)
    await completeLog({ store, signers: [], witnesses: [], log: () => undefined }, 2)
    expect(logOf(store).size).toBe(0)
    await complete(store, 2)
    const before = logOf(store)
    expect((await complete(store, 2)).events).toEqual([])
    expect(logOf(store)).toEqual(before)
  })

  test(
    'that is switched on late logs everything so far, and keeps the full tiles alone',
    { tags: ['slow'] },
    async () => {
      await putReleases(store, 515)
      await complete(store, 515)
      await assertLog(515, FIRST)
      const tiles = [...logOf(store).keys()].filter((path) => path.startsWith('log/tile/')).toSorted()
      expect(tiles).toEqual(
        [
          'log/tile/0/000',
          'log/tile/0/001',
          ...['0/002', 'entries/002'].flatMap((tile) =>
            [1, 2, 3].map((width) => `log/tile/${tile}.p/${width}`),
          ),
          'log/tile/1/000.p/1',
          'log/tile/1/000.p/2',
          'log/tile/entries/000',
          'log/tile/entries/001',
        ].toSorted(),
      )
      for (const size of [1, 255, 256, 257, 400, 512]) {
        const { checkpoint } = await readCheckpoint(store, size)
        expect(checkpoint.root).toEqual(treeOf(size).root)
        const path = await consistencyFromTiles(size, 515, tileReader(store))
        verifyConsistency(checkpoint, (await readCheckpoint(store, 515)).checkpoint, path)
      }
    },
  )
})

describe.for(FAULTS)('cut off at any write that %s', (fault) => {
  test.for([
    ['the first releases', 0, 3],
    ['where a tile becomes full', 254, 257],
  ] as const)(
    '%s are logged by the next run to the same bytes',
    { tags: ['slow'] },
    async ([, logged, current]) => {
      await putReleases(store, current)
      if (logged > 0) await complete(store, logged)
      // The narrower tiles are needed by nobody here, and there are hundreds.
      for (const path of store.objects.keys()) {
        if (path.includes('.p/') && !path.endsWith(`.p/${logged}`)) store.objects.delete(path)
      }
      const whole = new FaultStore(copyOf(store))
      await complete(whole, current)
      const clean = copyOf(store)
      await complete(clean, current)
      for (let at = 1; at <= whole.writes; at++) {
        const cut = copyOf(store)
        await expect(
          complete(new FaultStore(cut, { at, fault, crash: true }), current),
          `write ${at}`,
        ).rejects.toMatchObject({ kind: 'unavailable' })
        await complete(cut, current)
        const [found, expected] = [logOf(cut), logOf(clean)]
        expect([...expected].filter(([path, text]) => found.get(path) !== text)).toEqual([])
        // Partial tiles that a crash has left are only more bytes.
        const more = [...found.keys()].filter((path) => !expected.has(path))
        expect(more.filter((path) => !/\.p\/\d+$/.test(path))).toEqual([])
      }
    },
  )
})

test('two runs at once write the same', { tags: ['slow'] }, async () => {
  await putReleases(store, 258)
  await complete(store, 250)
  await Promise.all([complete(store, 258), complete(store, 258), complete(store, 256)])
  await assertLog(258, FIRST)
})

describe('keys', () => {
  test('an old one signs too while it is replaced, and what it signed alone is continued', async () => {
    await putReleases(store, 3)
    await complete(store, 1, FIRST)
    await complete(store, 2, SECOND, FIRST)
    await assertLog(2, SECOND, FIRST)
    await complete(store, 3, SECOND)
    await assertLog(3, SECOND)
  })

  test('one that was replaced at once is continued after its entries were derived again', async () => {
    await putReleases(store, 3)
    await complete(store, 2, FIRST)
    expect((await complete(store, 3, SECOND)).events[0]).toMatch(/signed by no key that is set/)
    await assertLog(3, SECOND)
    await complete(copyOf(store), 3, SECOND)
    // A manifest was changed since: what the old key signed is not what was released.
    await putManifest(store, { ...manifestOf(2), methodology_version: '9.9.9' })
    await expect(complete(store, 3, signer('third'))).rejects.toThrow(
      /cannot be continued, and nothing was signed/,
    )
  })

  test('a log of another origin is not continued', async () => {
    await putReleases(store, 2)
    await complete(store, 1)
    await expect(complete(store, 2, signer('first', 'another.example/log'))).rejects.toThrow(
      /is of the log log\.example\/forecasts, not of another\.example\/log/,
    )
  })
})

describe('over damage, nothing is signed:', () => {
  const change = (path: string) => {
    const bytes = store.objects.get(path)!
    bytes[bytes.length - 3]! ^= 1
  }

  test.for(['log/tile/0/000.p/3', logCheckpointPath(3)])('one changed byte in %s', async (path) => {
    await putReleases(store, 4)
    await complete(store, 3)
    change(path)
    await expect(complete(store, 4)).rejects.toThrow(/cannot be continued, and nothing was signed/)
    expect(store.objects.has(logCheckpointPath(4))).toBe(false)
  })

  test.for(['log/tile/0/000.p/4', 'log/tile/entries/000.p/4', logCheckpointPath(4)])(
    'other bytes where %s is to be written',
    async (path) => {
      await putReleases(store, 4)
      const other = copyOf(store)
      await putManifest(other, { ...manifestOf(4), methodology_version: '9.9.9' })
      await complete(other, 4)
      await complete(store, 3)
      await store.put(path, other.objects.get(path)!)
      await expect(complete(store, 4)).rejects.toThrow(/cannot be continued, and nothing was signed/)
      if (path !== logCheckpointPath(4)) expect(store.objects.has(logCheckpointPath(4))).toBe(false)
    },
  )

  test('a manifest that is gone, or in other bytes', async () => {
    await putReleases(store, 2)
    await complete(store, 1)
    const path = manifestPath(2)
    const bytes = store.objects.get(path)!
    await store.put(path, new TextEncoder().encode(`${decoded(bytes)} `))
    await expect(complete(store, 2)).rejects.toThrow(/in other bytes/)
    await store.delete(path)
    await expect(complete(store, 2)).rejects.toThrow(/is gone/)
    expect(parseCheckpoint(decoded(store.objects.get(logCheckpointPath(1))!)).checkpoint.size).toBe(1)
    expect(store.objects.has(logCheckpointPath(2))).toBe(false)
  })
})
