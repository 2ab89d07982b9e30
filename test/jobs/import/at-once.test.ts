// Real processes that import at once, round after round: each has begun to read its standard input before any
// of them is given the end of it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { withDatabase } from '../../../pipeline/duckdb.ts'
import { testFolder } from '../../support/folder.ts'
import { Clock, importRows, testComponents } from '../../support/http/service.ts'
import { forecastsCsv, namesCsv, questionCsv, readSerial, storeAtOnce } from '../../support/worlds/at-once.ts'
import { NOW } from '../../support/worlds/world.ts'

const FVS = fileURLToPath(new URL('../../../jobs/fvs.js', import.meta.url))
const ROUNDS = 4
/** More than a pipe holds, so that a write of it ends only when the process reads. */
const PADDING = '\n'.repeat(1_000_000)

interface Input {
  kind: string
  text: string
}

interface Said {
  added: number
  changed: number
}

/** Runs `fvs import KIND -` for each input at once, and returns what each printed; undefined for a refusal. */
async function importAtOnce(folder: string, inputs: readonly Input[]): Promise<(Said | undefined)[]> {
  const children = inputs.map(({ kind }) => {
    const child = spawn(process.execPath, [FVS, 'import', kind, '-', '--json'], {
      cwd: folder,
      env: { HOME: folder, TMPDIR: folder, PATH: process.env['PATH'], STORE_URL: join(folder, 'store') },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    const finished = once(child, 'close').then(([code]) =>
      code === 0 ? (JSON.parse(stdout) as Said) : undefined,
    )
    return { stdin: child.stdin, finished }
  })
  await Promise.all(
    children.map(
      ({ stdin }, index) =>
        new Promise<void>((resolve, reject) => {
          stdin.write(inputs[index]!.text + PADDING, (error) => {
            if (error) reject(error)
            else resolve()
          })
        }),
    ),
  )
  for (const { stdin } of children) stdin.end()
  return Promise.all(children.map(({ finished }) => finished))
}

async function storeInFolder() {
  const folder = await testFolder()
  const components = await testComponents({ folder, clock: new Clock(NOW) })
  const { objects } = await storeAtOnce(folder)
  for (const [path, bytes] of objects) await components.store.put(path, bytes)
  const read = () =>
    withDatabase(components.openDatabase, (database) => readSerial({ ...components, database }))
  return { folder, components, read }
}

test(`of three processes that import a question of one source and source_id, one has it in, ${ROUNDS} times`, async () => {
  const { folder, read } = await storeInFolder()
  for (let round = 0; round < ROUNDS; round++) {
    const inputs = [1, 2, 3].map((number) => ({
      kind: 'questions',
      text: questionCsv(10 * round + number).replace(',forum,1,', `,forum,${round},`),
    }))
    const told = await importAtOnce(folder, inputs)
    expect(told.filter((said) => said !== undefined)).toMatchObject([{ added: 1 }])
    const { counts, shared } = await read()
    expect(shared).toEqual([])
    expect(counts.questions).toBe(2 + round)
  }
})

test(`forecasts beside forecasters lose no name, ${ROUNDS} times`, async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { folder, components, read } = await storeInFolder()
    await importRows(components, 'questions', questionCsv(1))
    const told = await importAtOnce(folder, [
      { kind: 'forecasts', text: forecastsCsv(1) },
      { kind: 'forecasters', text: namesCsv(1) },
    ])
    // The names are new, or change forecasters whom the forecasts have created.
    expect(told.map((said) => said!.added + said!.changed)).toEqual([3, 3])
    const { counts, names } = await read()
    expect(names).toEqual(['Person 0 of 1', 'Person 1 of 1', 'Person 2 of 1'])
    expect(counts.forecasts).toBe(3)
  }
})
