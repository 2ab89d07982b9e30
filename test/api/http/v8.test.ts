// What a serving process asks of V8 still means what it did. The head of api/http/v8.ts names what measures
// whether it is needed.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { holdTickShape } from '../../../api/http/v8.ts'

const MODULE = fileURLToPath(new URL('../../../api/http/v8.ts', import.meta.url))

test('what is held is an object of process.nextTick, as Node makes it', async () => {
  expect(Object.keys(await holdTickShape())).toEqual(['callback', 'args'])
})

// V8 says so on standard error where it does not know a flag, and goes on.
test('the flag is one that V8 knows', async () => {
  const program = `import { beginYoung } from ${JSON.stringify(MODULE)}\nbeginYoung()`
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  expect(stderr).toBe('')
})
