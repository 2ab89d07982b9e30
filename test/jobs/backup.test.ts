// docs/run.md, "Back it up", names everything that a copy of a store needs, in an order that makes it whole.
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runRelease } from '../../jobs/release.ts'
import { signingKeyText } from '../../pipeline/proof/note-keys.ts'
import { FileStore } from '../../pipeline/store/file.ts'
import { testFolder } from '../support/folder.ts'
import { Clock, testComponents } from '../support/http/service.ts'
import { copyReleasedWorld } from '../support/worlds/world.ts'

/** These are of processes that run, and no store needs them. */
const OF_PROCESSES = ['.staging', 'probe']

test('a copy by the guide has the mark, the log and all else that is in a store', async () => {
  const guide = await readFile(new URL('../../docs/run.md', import.meta.url), 'utf8')
  const [, section] = /## Back it up\n([^]*?)\n## /.exec(guide)!
  const [order] = /- Copy \*\*in the order of the paths\*\*[^]*?\n- /.exec(section!)!
  const named = Array.from(order.matchAll(/`([^`]+)`/g), ([, name]) => name!)
  const folder = await testFolder()
  const store = await FileStore.begin(join(folder, 'store'))
  await copyReleasedWorld(store)
  const settings = { LOG_SIGNING_KEY: signingKeyText('log.example/test', 'log', new Uint8Array(32).fill(7)) }
  const clock = new Clock('2026-03-02T12:00:00.000Z')
  await runRelease(await testComponents({ store, folder, clock, settings }), {})
  const there = (await readdir(join(folder, 'store'))).filter((name) => !OF_PROCESSES.includes(name))
  expect(there).toEqual(expect.arrayContaining(['.store', 'log', 'releases', 'tables']))
  expect(there.filter((name) => !named.includes(name))).toEqual([])
  // Each is copied before those that it refers to, so that none of these can be missing.
  const places = ['inbox', 'log', 'releases', 'snapshots', 'tables'].map((name) => named.indexOf(name))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
})
