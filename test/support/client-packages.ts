// The packages of clients/, as they are installed.
import { execFile } from 'node:child_process'
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { REPOSITORY } from './fenced-blocks.ts'

const run = promisify(execFile)
const NAME = 'forecast-verification-client'

/**
 * Puts both packages into a folder: one where Node looks for packages from there, and one in `python`, for
 * `PYTHONPATH`.
 */
export async function installClients(folder: string): Promise<{ env: Record<string, string> }> {
  const [own, python] = [join(folder, 'node_modules', NAME), join(folder, 'python')]
  const sources = `${REPOSITORY}clients/typescript`
  await mkdir(own, { recursive: true })
  await cp(`${sources}/package.json`, join(own, 'package.json'))
  const compiler = `${REPOSITORY}node_modules/.bin/tsc`
  await run(compiler, ['-p', sources, '--outDir', join(own, 'dist')])
  await run(process.execPath, [`${REPOSITORY}clients/add-verifier.js`, join(own, 'dist')])
  const [from, to] = ['forecast_verification_client', join(python, 'forecast_verification_client')]
  await cp(`${REPOSITORY}clients/python/${from}`, to, { recursive: true })
  await cp(`${REPOSITORY}examples/verify.py`, join(to, 'verify.py'))
  return { env: { PYTHONPATH: python, PYTHONDONTWRITEBYTECODE: '1' } }
}
