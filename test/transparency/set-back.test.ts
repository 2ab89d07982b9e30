// A store that was set back to an earlier state, as docs/recover.md has it: who refuses its log, and how
// it goes on under a new name.
import { expect, test } from 'vitest'
import { base64Of } from '../../pipeline/proof/base64.ts'
import type { SigningKey } from '../../pipeline/proof/note-keys.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { logCheckpointPath, logCosignaturePath, manifestPath } from '../../pipeline/store/paths.ts'
import { lastCheckpoint, readCheckpoint } from '../../pipeline/transparency/log-files.ts'
import { completeLog } from '../../pipeline/transparency/publish.ts'
import type { Witness } from '../../pipeline/transparency/witnesses.ts'
import { manifestOf, putManifest, putReleases, signer } from '../support/worlds/logged-releases.ts'
import { loopbackWitness } from '../support/loopback-witness.ts'
import { testComponents, testService } from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'

const OLD = signer('old')
const NEW = signer('new', 'log.example/forecasts-2')

async function complete(store: MemoryStore, current: number, key: SigningKey, witness: Witness) {
  const reasons: unknown[] = []
  const log = (_event: string, fields: object) => reasons.push('reason' in fields ? fields.reason : undefined)
  await completeLog({ store, signers: [key], witnesses: [witness], log }, current)
  return reasons.at(-1)
}

test('witnesses refuse a store that was set back; with its log moved aside and a new name everything is logged anew', async () => {
  const store = new MemoryStore()
  const witness = await loopbackWitness()
  await putReleases(store, 3)
  await complete(store, 3, OLD, witness)
  const backup = copyOf(store)
  await putReleases(store, 5)
  await complete(store, 5, OLD, witness)

  // The backup is restored, and goes on with other releases than were published.
  expect(await complete(copyOf(backup), 3, OLD, witness)).toBeUndefined()
  for (const release of [4, 5, 6])
    await putManifest(backup, { ...manifestOf(release), methodology_version: '9.9.9' })
  expect(await complete(backup, 4, OLD, witness)).toBe(
    'it knows 5 entries of this log, and the checkpoint has 4',
  )
  expect(await complete(backup, 6, OLD, witness)).toMatch(/^it answered 422/)

  // While the old log is in its place nothing is done under the new key.
  const path = logCheckpointPath(6)
  const words = `${path} is of the log log.example/forecasts, not of log.example/forecasts-2: set the key of that log, or move log/ aside`
  const before = [...backup.objects.keys()]
  await expect(complete(backup, 6, NEW, witness)).rejects.toMatchObject({ kind: 'conflict', message: words })
  expect([...backup.objects.keys()]).toEqual(before)
  const bare = new MemoryStore()
  bare.objects.set(path, backup.objects.get(path)!)
  for (let size = 1; size < 6; size++) bare.objects.set(logCheckpointPath(size), backup.objects.get(path)!)
  const started = testService({ ...(await testComponents({ store: bare })), signers: [NEW] })
  await expect(started).rejects.toMatchObject({ kind: 'conflict', message: words })

  for (const old of before.filter((each) => each.startsWith('log/'))) {
    backup.objects.set(`log-until-2026-03-01/${old.slice('log/'.length)}`, backup.objects.get(old)!)
    backup.objects.delete(old)
  }
  expect(await lastCheckpoint(backup)).toBe(0)
  const other = await loopbackWitness()
  expect(await complete(backup, 6, NEW, other)).toBeUndefined()
  const { checkpoint } = await readCheckpoint(backup, 6)
  expect(checkpoint).toMatchObject({ origin: NEW.verifier.name, size: 6 })
  expect(other.requests).toEqual([expect.stringMatching(/^old 0\n\nlog\.example\/forecasts-2\n6\n/)])
  expect(backup.objects.has(logCosignaturePath(6, other.key.keyId))).toBe(true)
  // The old log is still there to be read, up to its last checkpoint.
  const kept = backup.objects.get('log-until-2026-03-01/checkpoints/00000006')!
  expect(base64Of(kept)).toBe(base64Of(bare.objects.get(path)!))
  expect(backup.objects.has(manifestPath(6))).toBe(true)
})
