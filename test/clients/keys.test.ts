// A key that is mistyped, or of the other environment, is the caller's fault: both clients refuse it before
// anything is sent, and none says that the service cannot be trusted.
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { signingKeyOf, verifierKeyText } from '../../pipeline/proof/note-keys.ts'
import { installClients } from '../support/client-packages.ts'
import { suiteFolder } from '../support/folder.ts'
import { LOG_VKEY } from '../support/worlds/written-log.ts'
import { exchangeServer } from './exchange.ts'

const folder = await suiteFolder()
let installed: { env: Record<string, string> }

const [name, id, key] = LOG_VKEY.split('+') as [string, string, string]
const OF_SANDBOX = verifierKeyText(
  signingKeyOf(`${name}/sandbox`, 'log', new Uint8Array(32).fill(7)).verifier,
)
const REFUSED = [
  OF_SANDBOX,
  'nonsense',
  LOG_VKEY.slice(0, -1),
  `${name}+00000000+${key}`,
  `${LOG_VKEY}, nonsense`,
  `${name}+${id}+BA${key.slice(2)}`,
]
const TAKEN = [LOG_VKEY, `${LOG_VKEY},${LOG_VKEY}`, `${LOG_VKEY} ${LOG_VKEY}\n`]

const PROGRAMS = [
  {
    language: 'Python',
    command: 'python3',
    file: 'keys.py',
    code: `
import json, os
from forecast_verification_client import Client
told = []
for text in json.loads(os.environ["TEXTS"]):
    for vkeys in (text, [text]):
        try:
            client = Client(os.environ["CLIENT_URL"], "an-agent", vkeys, api_key="fv_test_a", pause=lambda _: None)
            client.submit([{"question_id": "a", "probability": 0.5}])
        except Exception as error:
            told.append(type(error).__name__)
print(json.dumps(told))
`,
  },
  {
    language: 'JavaScript',
    command: process.execPath,
    file: 'keys.js',
    code: `
import { Client } from 'forecast-verification-client'
const told = []
for (const text of JSON.parse(process.env.TEXTS))
  for (const vkeys of [text, [text]])
    try {
      const options = { agentId: 'an-agent', apiKey: 'fv_test_a', pause: () => Promise.resolve() }
      await new Client({ url: process.env.CLIENT_URL, vkeys, ...options }).submit([{ question_id: 'a', probability: 0.5 }])
    } catch ({ name }) {
      told.push(name)
    }
console.log(JSON.stringify(told))
`,
  },
]

beforeAll(async () => {
  installed = await installClients(folder)
})

test.for(PROGRAMS)('the client in $language', async ({ language, command, file, code }) => {
  await writeFile(join(folder, file), code)
  const server = await exchangeServer(() => null)
  const told = async (texts: readonly string[], url = server.url) => {
    const env = { ...process.env, ...installed.env, CLIENT_URL: url, TEXTS: JSON.stringify(texts) }
    const { stdout } = await promisify(execFile)(command, [join(folder, file)], { cwd: folder, env })
    return JSON.parse(stdout) as string[]
  }
  const error = language === 'Python' ? 'ValueError' : 'TypeError'
  expect(await told(REFUSED)).toEqual(REFUSED.flatMap(() => [error, error]))
  expect(await told([LOG_VKEY], `${server.url}/sandbox/`)).toEqual([error, error])
  expect(server.exchanges).toHaveLength(0)
  expect(await told([OF_SANDBOX], `${server.url}/sandbox/`)).toEqual(['NoAnswer', 'NoAnswer'])
  expect(await told(TAKEN)).toEqual(TAKEN.flatMap(() => ['NoAnswer', 'NoAnswer']))
})
