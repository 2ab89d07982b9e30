import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const MODULE = fileURLToPath(new URL('../../../api/http/young-objects.ts', import.meta.url))

// What it gains is in docs/decisions/0047. V8 says so on standard error where it does not know a flag, and goes on.
test('the flag is one that V8 knows', async () => {
  const program = `import { beginYoung } from ${JSON.stringify(MODULE)}\nbeginYoung()`
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  expect(stderr).toBe('')
})
