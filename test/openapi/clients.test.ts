// Clients generated from the OpenAPI document type-check strictly, and a bot over each takes part.
import { execFile } from 'node:child_process'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { releaseExamples } from '../support/worlds/example-world.ts'
import { external } from '../support/external.ts'
import { testFolder } from '../support/folder.ts'
import { Clock, startTestService, testComponents } from '../support/http/service.ts'
import { NOW, QUESTION } from '../support/worlds/world.ts'
import { QUESTION_ID } from '../../api/openapi/examples.ts'

const run = promisify(execFile)
const CLIENTS = fileURLToPath(new URL('clients', import.meta.url))
const MODULES = join(CLIENTS, 'node_modules')
const generators = external(['CLIENTS_PYTHON'], 'test/support/python-venv.sh DIR prints it')
const there = generators !== undefined && existsSync(MODULES)
if (!existsSync(MODULES)) {
  const message = 'the generated clients need `npm ci --prefix test/openapi/clients`'
  if (process.env['CI'] === 'true') throw new Error(message)
  console.warn(`skipped: ${message}`)
}

/** What a program prints, and what it warns of. */
async function output(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<{ printed: string; warnings: string }> {
  try {
    // Their tools are looked for beside the program.
    const env = { ...process.env, PATH: `${join(program, '..')}:${process.env['PATH']}` }
    const { stdout, stderr } = await run(program, args, { cwd, env, maxBuffer: 64 * 1024 ** 2 })
    return { printed: stdout, warnings: stderr }
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${program} ${args.join(' ')}\n${stdout}\n${stderr}`, { cause: error })
  }
}

/** A service with open questions, and a folder with its document. */
async function setUp() {
  const folder = await testFolder()
  const components = await testComponents({ folder, clock: new Clock(NOW) })
  await releaseExamples(components)
  const service = await startTestService(components)
  await writeFile(join(folder, 'openapi.json'), (await service.client.get('/openapi.json')).bytes)
  return { folder, service }
}

const expectPart = ({ printed }: { printed: string }) => {
  const { told, early } = JSON.parse(printed) as { told: string[]; early: string }
  expect(told).toContain(`ok ${QUESTION_ID}`)
  expect(told).toContain(`ok ${QUESTION.open}`)
  expect(told.every((line) => line.startsWith('ok '))).toBe(true)
  expect(early).toBe('/problems/not-released-yet')
}

describe.skipIf(!there)('a bot', () => {
  test('over the client of openapi-typescript', async () => {
    const { folder, service } = await setUp()
    const bot = join(folder, 'bot')
    await mkdir(bot)
    await symlink(MODULES, join(bot, 'node_modules'))
    await cp(join(CLIENTS, 'bot.ts'), join(bot, 'bot.ts'))
    await writeFile(join(bot, 'package.json'), '{"type":"module"}')
    const program = (name: string) => join(MODULES, '.bin', name)
    await output(program('openapi-typescript'), [join(folder, 'openapi.json'), '--output', 'api.d.ts'], bot)
    const options = ['--noEmit', '--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes']
    const modules = [
      '--target',
      'esnext',
      '--module',
      'nodenext',
      '--allowImportingTsExtensions',
      '--types',
      'node',
    ]
    const types = ['--typeRoots', fileURLToPath(new URL('../../node_modules/@types', import.meta.url))]
    await output(program('tsc'), [...options, ...modules, ...types, 'bot.ts'], bot)
    expectPart(await output(process.execPath, ['bot.ts', service.url], bot))
    await service.stop()
  })

  test('over the client of openapi-python-client', async () => {
    const { folder, service } = await setUp()
    await cp(join(CLIENTS, 'bot.py'), join(folder, 'bot.py'))
    const python = generators!.CLIENTS_PYTHON
    const beside = (name: string) => join(python, '..', name)
    const generate = ['generate', '--path', 'openapi.json', '--output-path', 'generated', '--meta', 'none']
    const { warnings } = await output(beside('openapi-python-client'), generate, folder)
    // It takes JSON, text and `application/octet-stream` only.
    const left = [...warnings.matchAll(/^WARNING parsing (\w+ \S+)/gm)].map(([, call]) => call)
    expect(left).toEqual([
      'GET /releases.atom',
      'GET /agents/{agent_id}/badge.svg',
      'GET /forecaster/{user_id}/badge.svg',
      'GET /agents/{agent_id}/card.svg',
      'GET /agents/{agent_id}/card.png',
      'GET /forecaster/{user_id}/card.svg',
      'GET /forecaster/{user_id}/card.png',
    ])
    // The generator's own base class passes on the arguments of __exit__ without their types.
    const settings = '[mypy]\nstrict = True\n[mypy-generated.client]\ndisable_error_code = arg-type\n'
    await writeFile(join(folder, 'mypy.ini'), settings)
    expect((await output(beside('mypy'), ['bot.py', 'generated'], folder)).printed).toMatch(/no issues found/)
    expectPart(await output(python, ['bot.py', service.url], folder))
    await service.stop()
  })
})
