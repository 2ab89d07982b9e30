// `fvs backup` and `fvs restore` as processes: a store with its sandbox goes out and comes back whole.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FileStore } from '../../../pipeline/store/file.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { testFolder } from '../../support/folder.ts'
import { fvs } from '../../support/process.ts'
import { contentOf } from '../../support/store-content.ts'
import { copyReleasedWorld } from '../../support/worlds/world.ts'

test('a store with its sandbox goes out and comes back whole, and audits', async () => {
  const folder = await testFolder()
  const [store, backup, back] = ['store', 'backup', 'back'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  await copyReleasedWorld(await FileStore.begin(store))
  const sandbox = await FileStore.begin(join(store, 'sandbox'))
  await sandbox.put('registry/keys/a.json', Buffer.from('{}'))
  const run = (args: readonly string[], at = store) => fvs(args, { folder, env: { STORE_URL: at } })
  const json = async (args: readonly string[], at?: string) => {
    const { code, stdout, stderr } = await run([...args, '--json'], at)
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout) as { environments: Record<string, { copied: number; unchanged: number }> }
  }

  const first = await json(['backup', backup])
  expect(Object.keys(first.environments)).toEqual(['production', 'sandbox'])
  // The times of files of today do not tell whether a key has changed, and its bytes do.
  expect(await json(['backup', backup])).toMatchObject({
    environments: { production: { copied: 0 }, sandbox: { copied: 0, unchanged: 1 } },
  })

  const refusals: [args: string[], at: string, message: RegExp][] = [
    [['release'], backup, /is a backup of .*, and nothing but fvs backup writes to it; .* fvs restore/],
    [['restore', backup], store, /holds .* and is no restore that was cut off; name an empty place/],
    [['backup', store], backup, /holds .* and is no backup; name an empty place/],
    [['backup', join(store, 'inside')], store, /a backup must lie outside of the store/],
    // A variable that is not set must not make the folder of the shell a backup, which loses everything else.
    [['backup', ''], store, /not a store: ""/],
    [['restore', ''], back, /not a store: ""/],
    [['restore', join(folder, 'nothing')], back, /there is no backup in .*: nothing is there/],
  ]
  for (const [args, at, message] of refusals) {
    const { code, stderr } = await run(args, at)
    expect(stderr).toMatch(message)
    expect(code).toBe(1)
  }

  const restored = await run(['restore', backup], back)
  expect(restored).toMatchObject({ code: 0, stderr: expect.stringContaining('fvs audit') as string })
  expect(await content(back)).toEqual(await content(store))
  expect((await run(['audit'], back)).code).toBe(0)
  // The world of the tests is old.
  const doctor = await run(['doctor', '--backup', backup], back)
  expect(doctor).toMatchObject({ code: 1, stderr: '' })
  expect(doctor.stdout).toMatch(/^ok   backup /m)
  expect(doctor.stdout.match(/^FIX .*$/gm)).toEqual([
    expect.stringMatching(/^FIX {2}release +release 1 is as of/),
  ])
})

async function content(folder: string): Promise<Record<string, string>> {
  const store: Store = await FileStore.open(folder)
  return contentOf(store)
}
