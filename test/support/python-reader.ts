// Runs the scripts of test/delta, which read with others' programs what the service wrote.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { external } from './external.ts'

/** Undefined where there is no such Python; in CI that is a failure. */
export const python = external(
  ['DELTA_PYTHON'],
  'these tests need a Python with test/delta/requirements.txt; `test/support/python-venv.sh DIR` makes one',
)

/** Gives a script its request as JSON, and returns what it answers. */
export async function askPython<Answer>(script: string, request: unknown): Promise<Answer> {
  const path = fileURLToPath(new URL(`../delta/${script}`, import.meta.url))
  // Without bytecode, which Python would leave in the repository.
  const reader = spawn(python!.DELTA_PYTHON, ['-B', path], { stdio: ['pipe', 'pipe', 'pipe'] })
  reader.stdin.end(JSON.stringify(request))
  const [output, errors, [code]] = await Promise.all([
    text(reader.stdout),
    text(reader.stderr),
    once(reader, 'close') as Promise<[number | null]>,
  ])
  if (code !== 0) throw new Error(`${script} ended with ${code}:\n${errors}`)
  return JSON.parse(output) as Answer
}
