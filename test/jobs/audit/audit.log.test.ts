// `fvs audit --log`: the keys that it takes, and its report for people and for programs.
import { beforeAll, expect, test } from 'vitest'
import { runAuditLog } from '../../../jobs/audit/audit-log.ts'
import { signingKeyOf, verifierKeyText } from '../../../pipeline/proof/note-keys.ts'
import { suiteFolder } from '../../support/folder.ts'
import { type LoggedWorld, WITNESS, loggedWorld } from '../../support/worlds/logged-world.ts'
import { testComponents } from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { LOG_SECRET, LOG_VKEY } from '../../support/worlds/written-log.ts'

const folder = await suiteFolder()
const WITNESS_VKEY = verifierKeyText(WITNESS.verifier)
let world: LoggedWorld
beforeAll(async () => {
  world = await loggedWorld(folder)
})

const audit = async (vkeys: readonly string[], settings: Record<string, string> = {}, { store } = world) =>
  runAuditLog(await testComponents({ store, folder, settings }), vkeys)

test('checks with the keys that are given, or with those of the settings', { tags: ['slow'] }, async () => {
  const given = await audit([LOG_VKEY, WITNESS_VKEY])
  expect(given.json).toMatchObject({ ok: true, checkpoints_held: 3, cosignatures: { held: 2 } })
  expect(given.text.split('\n')).toEqual([
    'the log fvs.example/forecasts of 3 entries: everything that it commits to holds',
    '3 checkpoints are signed by fvs.example/forecasts+997a1be1, with 2 cosignatures that hold',
    '6 tiles and bundles compared',
    expect.stringMatching(/^\d+ files of releases and snapshots checked, of 2 snapshots$/),
    expect.stringMatching(
      /^\d+ data files of the tables checked, and the trees of 108 forecasts derived again$/,
    ),
  ])
  const settings = { LOG_SIGNING_KEY: LOG_SECRET }
  expect((await audit([], settings)).json).toMatchObject({ ok: true, checkpoints_held: 3 })
  expect((await audit([WITNESS_VKEY], settings)).json).toMatchObject({ cosignatures: { held: 2 } })
})

test('refuses to check without a key of the log, and with keys of several', async () => {
  const other = verifierKeyText(signingKeyOf('other.example', 'log', new Uint8Array(32)).verifier)
  await expect(audit([])).rejects.toMatchObject({
    kind: 'invalid',
    message: expect.stringMatching(/--vkey, .* or set LOG_SIGNING_KEY$/) as string,
  })
  await expect(audit([WITNESS_VKEY])).rejects.toMatchObject({ kind: 'invalid' })
  await expect(audit([LOG_VKEY, other])).rejects.toThrow(
    /several logs: fvs.example\/forecasts, other.example/,
  )
  await expect(audit(['x'])).rejects.toThrow(/no verifier key/)
})

test('fails and says which object is wrong', { tags: ['slow'] }, async () => {
  const store = copyOf(world.store)
  store.objects.delete('log/tile/0/000.p/1')
  const { ok, json, text } = await audit([LOG_VKEY], {}, { ...world, store })
  expect(ok).toBe(false)
  expect(json).toMatchObject({
    ok: false,
    faults: [expect.stringMatching(/^log\/tile\/0\/000.p\/1: is missing/)],
  })
  expect(text).toMatch(/3 entries: FAILED\n(.*\n)*fault: log\/tile\/0\/000.p\/1: is missing/)
})
