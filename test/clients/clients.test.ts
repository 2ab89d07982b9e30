// Both clients, as they are installed, send the same requests and understand the same answers. What they send
// and tell is golden: RECORD=true in the environment records it anew, against the real service.
import { spawnSync } from 'node:child_process'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { installClients } from '../support/client-packages.ts'
import { suiteFolder } from '../support/folder.ts'
import { exchangeServer } from './exchange.ts'
import { type Recording, record, toldBy } from './recording.ts'

const LANGUAGES = [
  { name: 'JavaScript', command: process.execPath, file: 'operations.js' },
  { name: 'Python', command: 'python3', file: 'operations.py' },
]
const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const EXCHANGES = fileOf('../cases/clients/exchanges.json')
const TOLD = fileOf('../cases/clients/told.json')

const folder = await suiteFolder()
let installed: { env: Record<string, string> }

beforeAll(async () => {
  installed = await installClients(folder)
  for (const { file } of LANGUAGES) await copyFile(fileOf(file), join(folder, file))
})

const tell = ({ command, file }: (typeof LANGUAGES)[number], env: Record<string, string>) =>
  toldBy(command, join(folder, file), { ...env, ...installed.env })

test.runIf(process.env['RECORD'] === 'true')('the exchange is recorded anew', async () => {
  let told: unknown
  const recording = await record(async (env) => {
    told = await tell(LANGUAGES[0]!, env)
  })
  expect(recording.exchanges).not.toEqual([])
  await writeFile(EXCHANGES, `${JSON.stringify(recording, undefined, 1)}\n`)
  await writeFile(TOLD, `${JSON.stringify(told, undefined, 1)}\n`)
})

test.for(LANGUAGES)('the client in $name', async (language, { skip }) => {
  const isMissing = spawnSync(language.command, ['--version']).error !== undefined
  if (isMissing && process.env['CI'] === 'true') throw new Error(`not installed: ${language.command}`)
  if (isMissing) return skip(`needs ${language.command}`)
  const { env, exchanges } = JSON.parse(await readFile(EXCHANGES, 'utf8')) as Recording
  const server = await exchangeServer((_asked, number) => exchanges[number]?.given ?? null)
  const told = await tell(language, { ...env, CLIENT_URL: server.url })
  const recorded = (await readFile(TOLD, 'utf8')).replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, server.url)
  expect(server.exchanges.map(({ asked }) => asked)).toEqual(exchanges.map(({ asked }) => asked))
  expect(told).toEqual(JSON.parse(recorded))
})
