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
test.for(['beginYoung', 'compileNoMore'])('V8 knows the flag of %s', async (name) => {
  const program = `import { ${name} } from ${JSON.stringify(MODULE)}\n${name}()`
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  expect(stderr).toBe('')
})

test('after compileNoMore, functions that get hot are no longer compiled by Maglev', async () => {
  const program = `import { compileNoMore } from ${JSON.stringify(MODULE)}
    const warm = () => { for (let n = 0; n < 50; n++) { const f = new Function('x', 'let s = ' + n + '; for (let i = 0; i < 1e4; i++) s += x * i; return s'); for (let k = 0; k < 20; k++) f(k) } }
    warm()
    console.log('stops')
    compileNoMore()
    warm()`
  const flags = ['--trace-opt', '--no-concurrent-recompilation', '--input-type=module']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '--eval', program], {
    maxBuffer: 2 ** 26,
  })
  const [before, after] = stdout
    .split('stops')
    .map((part) => part.match(/compiling method .* \(target MAGLEV\)/g)?.length ?? 0)
  expect({ before: before! > 0, after }).toEqual({ before: true, after: 0 })
})
