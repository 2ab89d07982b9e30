// Both clients as packages: their types follow the document, they are small and install alone, and a bot of
// ten lines over each takes part though its connection is cut.
import { execFile } from 'node:child_process'
import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { external } from '../support/external.ts'
import { REPOSITORY } from '../support/fenced-blocks.ts'
import { testFolder } from '../support/folder.ts'
import { cuttingProxy } from '../support/http/cutting-proxy.ts'
import { Clock, startTestService, testComponents } from '../support/http/service.ts'
import { LOG_KEY, LOG_VKEY } from '../support/worlds/written-log.ts'
import { NOW, copyReleasedWorld } from '../support/worlds/world.ts'

const run = promisify(execFile)
const CLIENTS = `${REPOSITORY}clients`
const MOST_BYTES = 200_000
const tools = external(['CLIENTS_PYTHON'], 'test/support/python-venv.sh DIR prints it')
const there = tools !== undefined && existsSync(`${REPOSITORY}test/openapi/clients/node_modules`)

/** The lines of the only block of code in a language of a file. */
async function blockOf(file: string, language: string): Promise<string> {
  const [, code] = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(await readFile(file, 'utf8'))!
  return code!
}

/** Runs the bot of a README against the real service, by a way that cuts its first submission. */
async function expectTakesPart(
  command: string,
  args: string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<void> {
  const components = await testComponents({ clock: new Clock(NOW) })
  const { agentId, key } = await copyReleasedWorld(components.store)
  const service = await startTestService({ ...components, signers: [LOG_KEY] })
  const proxy = await cuttingProxy(service.url, 1)
  const variables = { FVS_URL: proxy.url, FVS_AGENT_ID: agentId, FVS_API_KEY: key, LOG_VKEY }
  const { stdout } = await run(command, args, { cwd, env: { ...process.env, ...env, ...variables } })
  expect(stdout).toMatch(/^1 of 1 taken\n[\d.]+ Question "44"\n/)
  const submissions = proxy.passed.filter(({ method }) => method === 'POST')
  expect(submissions).toHaveLength(2)
  const [first, second] = submissions.map(({ answer: _receipts, ...sent }) => sent)
  expect(second).toEqual(first)
  await service.stop()
}

describe.skipIf(!there)('the clients', () => {
  test('have the types of the document: clients/generate.sh writes them', async () => {
    const folder = await testFolder()
    await run(`${CLIENTS}/generate.sh`, [folder, folder], { env: { ...process.env, ...tools } })
    const made = (name: string) => readFile(join(folder, name), 'utf8')
    expect(await made('api.ts')).toBe(await readFile(`${CLIENTS}/typescript/api.ts`, 'utf8'))
    const python = `${CLIENTS}/python/forecast_verification_client`
    expect(await made('api.py')).toBe(await readFile(`${python}/api.py`, 'utf8'))
  })

  test('the one in TypeScript is a small package without dependencies, and its bot takes part', async () => {
    const folder = await testFolder()
    await run('npm', ['pack', '--pack-destination', folder], { cwd: `${CLIENTS}/typescript` })
    const [tarball] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'))
    expect((await stat(join(folder, tarball!))).size).toBeLessThan(MOST_BYTES)
    const bot = join(folder, 'bot')
    await mkdir(bot)
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(folder, tarball!)], {
      cwd: bot,
    })
    expect((await readdir(join(bot, 'node_modules'))).filter((name) => !name.startsWith('.'))).toEqual([
      'forecast-verification-client',
    ])
    await writeFile(join(bot, 'bot.mjs'), await blockOf(`${CLIENTS}/typescript/README.md`, 'js'))
    await expectTakesPart(process.execPath, ['bot.mjs'], bot)
  })

  test('the one in Python is a small wheel without dependencies, typed strictly, and its bot takes part', async () => {
    const folder = await testFolder()
    const python = tools!.CLIENTS_PYTHON
    const pip = ['-m', 'pip', '--disable-pip-version-check', '--quiet']
    const alone = ['--no-deps', '--no-build-isolation']
    await run(python, [...pip, 'wheel', ...alone, '--wheel-dir', folder, `${CLIENTS}/python`])
    const [wheel] = (await readdir(folder)).filter((name) => name.endsWith('.whl'))
    expect((await stat(join(folder, wheel!))).size).toBeLessThan(MOST_BYTES)
    const site = join(folder, 'site')
    await run(python, [...pip, 'install', '--no-index', '--target', site, join(folder, wheel!)])
    const mypy = join(dirname(python), 'mypy')
    await run(mypy, ['--strict', 'forecast_verification_client'], { cwd: `${CLIENTS}/python` })
    await writeFile(join(folder, 'bot.py'), await blockOf(`${CLIENTS}/python/README.md`, 'python'))
    await expectTakesPart(python, ['bot.py'], folder, { PYTHONPATH: site })
  })
})
