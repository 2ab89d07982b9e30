// A report whose reader has gone, as `fvs audit | head -1` leaves it, ends quietly with the code of the report.
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FileStore } from '../../../pipeline/store/file.ts'
import { testFolder } from '../../support/folder.ts'
import { startFvs } from '../../support/process.ts'
import { copyReleasedWorld } from '../../support/worlds/world.ts'

const COMMANDS: [args: string[], code: number][] = [
  [['keys', 'list'], 0],
  [['imports', 'list', '--json'], 0],
  [['audit', '--unsigned'], 0],
  // The world of the tests is old.
  [['doctor'], 1],
  [['release', '--as-of', 'never'], 2],
]

test('a command whose output is closed says nothing of it', async () => {
  const folder = await testFolder()
  await copyReleasedWorld(await FileStore.begin(join(folder, 'store')))
  for (const [args, code] of COMMANDS) {
    const { child } = startFvs(args, { folder, env: { STORE_URL: join(folder, 'store') } })
    let stderr = ''
    child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()))
    child.stdout.destroy()
    const [ended] = (await once(child, 'exit')) as [number]
    expect(stderr, args.join(' ')).not.toMatch(/EPIPE|node:|unexpected/)
    expect(ended, stderr).toBe(code)
  }
})
