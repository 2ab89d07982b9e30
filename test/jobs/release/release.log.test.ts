// `fvs release` keeps the public log where a key is set: what was published proves without a secret.
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { runPlan, runRelease } from '../../../jobs/release/release.ts'
import { runCommit } from '../../../jobs/release/stage.ts'
import { parseSigningKey, signingKeyText } from '../../../pipeline/proof/note-keys.ts'
import { heldSignatures } from '../../../pipeline/proof/note-signatures.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { logCheckpointPath } from '../../../pipeline/store/paths.ts'
import { readCheckpoint } from '../../../pipeline/transparency/log-files.ts'
import { Clock, testComponents } from '../../support/http/service.ts'
import { NOW, copyReleasedWorld } from '../../support/worlds/world.ts'

const KEY = signingKeyText('log.example/test', 'log', new Uint8Array(32).fill(7))

test(
  'a release is logged, one that was made without a key too, and a damaged log stops no release',
  { tags: ['slow'] },
  async () => {
    const store = new MemoryStore()
    await copyReleasedWorld(store)
    const clock = new Clock(NOW)
    const components = await testComponents({ store, clock, settings: { LOG_SIGNING_KEY: KEY } })
    clock.set('2026-03-02T12:00:00.000Z')
    expect((await runRelease(components, {})).json).toMatchObject({ made: true, release: 2 })
    const { checkpoint, note } = await readCheckpoint(store, 2)
    expect(checkpoint).toMatchObject({ origin: 'log.example/test', size: 2 })
    expect(await heldSignatures(note, [parseSigningKey(KEY).verifier])).toHaveLength(1)

    store.objects.get('log/tile/0/000.p/2')![0]! ^= 1
    clock.set('2026-03-03T12:00:00.000Z')
    await expect(runRelease(components, {})).rejects.toThrow(
      /the log cannot be continued, and nothing was signed: /,
    )
    expect(store.objects.has('releases/00000003/manifest.json')).toBe(true)
    expect(store.objects.has(logCheckpointPath(3))).toBe(false)
    store.objects.get('log/tile/0/000.p/2')![0]! ^= 1
    expect((await runRelease(components, { ifChanged: true })).json).toMatchObject({
      made: false,
      release: 3,
    })
    expect((await readCheckpoint(store, 3)).checkpoint.size).toBe(3)
  },
)

test(
  'a store with the log of another origin is not released, and stays as it is',
  { tags: ['slow'] },
  async () => {
    const store = new MemoryStore()
    await copyReleasedWorld(store)
    const clock = new Clock('2026-03-02T12:00:00.000Z')
    const keyOf = (name: string) => signingKeyText(name, 'log', new Uint8Array(32).fill(7))
    const componentsWith = (key: string) =>
      testComponents({ store, clock, settings: { LOG_SIGNING_KEY: key } })
    const run = async (key: string) => runRelease(await componentsWith(key), { ifChanged: true })
    await run(keyOf('log.example/one'))
    const before = [...store.objects.keys()]
    clock.set('2026-03-03T12:00:00.000Z')
    const refusal = / is of the log log\.example\/one, not of log\.example\/two: /
    await expect(run(keyOf('log.example/two'))).rejects.toThrow(refusal)
    const others = await componentsWith(keyOf('log.example/two'))
    await expect(runPlan(others, {})).rejects.toThrow(refusal)
    const nothing = { release: 2, tally: '0'.repeat(64), forecasts: 0 }
    await expect(runCommit(others, nothing, Readable.from([]))).rejects.toThrow(refusal)
    expect([...store.objects.keys()]).toEqual(before)
  },
)
