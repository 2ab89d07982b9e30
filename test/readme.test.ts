// Runs what README.md and docs/ tell readers to run, as they tell it, against the demo that README.md starts.
//
// Nothing is adapted but: `npm ci &&` is left out and `npm test` not run; the name of the file of variables
// is the one that the demo printed; `npm start` gets a free port; queries in SQL find their relative paths in
// $DATA. The blocks run in a folder of links to the repository, which shows whether they leave files in it.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { v7 as uuidv7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Database, literal } from '../pipeline/duckdb.ts'
import { METHODOLOGY } from '../pipeline/scoring/methodology.ts'
import { FileStore } from '../pipeline/store/file.ts'
import { compact } from '../pipeline/tables/compact.ts'
import { UsageLog } from '../pipeline/access/usage.ts'
import { SETTING_NAMES } from '../schemas/config.ts'
import { type Ended, RunningCommand } from './support/command.ts'
import { type Block, REPOSITORY, blocksOf, textOf } from './support/fenced-blocks.ts'
import { suiteFolder } from './support/folder.ts'
import { contentOf } from './support/store-content.ts'
import { openWorker } from './support/tables.ts'
import { vectors } from './support/transparency-vectors.ts'
import { NO_SCRIPTS, makeWorkspace } from './support/workspace.ts'

const isSetup = ({ code }: Block) => /^(npm (ci|start)|\. \/tmp\/fvs-demo-XXXXXX\/demo\.env$)/m.test(code)

const folder = await suiteFolder()
let demo: RunningCommand
let workspace: string
let variablesFile: string
/** The folder of the demo, its store in it, and what the sandbox has in that store: $DATA. */
let demoFolder: string
let root: string
let data: string

beforeAll(async () => {
  const command = readme('npm run demo').replace('npm ci && ', '')
  workspace = await makeWorkspace(folder)
  // Releases are made by the examples alone.
  demo = new RunningCommand('bash', ['-c', command], {
    cwd: workspace,
    env: { SANDBOX_RELEASE_SCHEDULE: '0 0 1 1 *', TMPDIR: folder },
  })
  variablesFile = (await demo.printed(/^ {2}\. (\S+\/demo\.env)$/m))[1]!
  await demo.printed(/^Ctrl-C ends the service/m)
  demoFolder = dirname(variablesFile)
  root = join(demoFolder, 'data')
  data = join(root, 'sandbox')
})

afterAll(() => demo.stop())

/** The block of README.md that has a text. */
function readme(text: string): string {
  const found = blocksOf('README.md').find(({ code }) => code.includes(text))
  if (!found) throw new Error(`README.md has no block with ${text}`)
  return found.code
}

describe('README.md', () => {
  test('names scripts that exist, and demo.env as the demo prints it', async () => {
    const { scripts } = JSON.parse(await readFile(`${REPOSITORY}package.json`, 'utf8')) as {
      scripts: Record<string, string>
    }
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'demo', 'test']))
    const named = [...textOf('README.md').matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name)
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named))
    const suites = Object.keys(scripts).filter((name) => name.startsWith('test:'))
    expect(named).toEqual(expect.arrayContaining(suites))
    expect(readme('npm test')).toBe('npm ci && npm test\n')
    expect(readme('/demo.env')).toBe('. /tmp/fvs-demo-XXXXXX/demo.env\n')
  })

  test('the demo names three pages, and they open', async () => {
    for (const named of [
      /^ {2}who leads.* (\S+)$/m,
      /^ {2}the record of .* (\S+)$/m,
      /^ {2}one owner.* (\S+)$/m,
    ]) {
      const page = await fetch((await demo.printed(named))[1]!, { headers: { Accept: 'text/html' } })
      expect(page.status).toBe(200)
      expect(await page.text()).toContain('<h1>')
    }
  })

  test('npm start serves on a folder of its own', async () => {
    const started = new RunningCommand('bash', ['-c', readme('npm start')], {
      cwd: workspace,
      env: { PORT: '0', STORE_URL: undefined },
    })
    const [, url] = await started.printed(/"url":"([^"]+)"/)
    const alive = await fetch(`${url}/livez`)
    expect(alive.status).toBe(200)
    expect(existsSync(join(workspace, 'data'))).toBe(true)
    expect((await started.stop()).stderr).toContain('"msg":"stopped"')
  })
})

/** What the output of the blocks under a heading has to show, in the order of the blocks. */
const SHOWN: Record<string, RegExp[]> = {
  'README.md: Four examples': [
    /"api_key":"fv_test_\w+"}\n{.*"probability":0\.73/,
    /{"agent_id":.*"certification":"certified".*}[^]*x-service-signature: v1=[0-9a-f]{64}[^]*the proof holds/i,
    /questions: 1 of 1 rows added[^]*release 4 as of [^]*every byte derived again[^]*fv_test_\w+/,
  ],
  'docs/agents.md: In ten lines': [/{"results":\[{.*"status":"ok"}\]}{"agent_id":.*"probability":0\.73/],
  'docs/verifying.md: Credentials': [
    /: the credential holds\n {2}agent-credential of [^]*is not revoked[^]*: the credential holds\n {2}forecaster-credential of /,
  ],
  'docs/verifying.md: Check a record now': [
    /^these bytes are in the tree “agent” of release \d+, among \d+\nthat is entry [^]* is signed by demo\.example.*\nit is the verification of .*, release \d+ of sandbox, as of .*\ncertified\n$/,
    /^these bytes are in the tree “agent” of release \d+, among \d+\nthat is entry [^]* is signed by demo\.example.*\nit is the verification of .*, release \d+ of sandbox, as of .*\ncertified\n$/,
  ],
  'docs/verifying.md: With one command': [
    /the proof holds[^]*the proof holds\n[^]*is signed by demo\.example/,
  ],
  'docs/verifying.md: Receipts': [/the receipt holds\n[^]*signed by demo\.example/],
  'docs/verifying.md: In a shell': [/x-service-signature: v1=[0-9a-f]{64}/i],
  'docs/verifying.md: In Node and Python': [/^certified \d+ 20\S+Z\n$/, /^certified \d+ 20\S+Z\n$/],
  'docs/verifying.md: Many at once': [
    /"status":"ok".*"status":"not_found"/,
    /^[0-9a-f-]{36} certified\n$/,
    /^[0-9a-f-]{36} certified\n$/,
  ],
  'docs/verifying.md: With `fvs verify`': [/(the signature holds\n[^]*){4}/],
  'docs/verifying.md: From the files, without the service': [
    /all \d+ signatures hold\n[^]*all 120 signatures hold/,
    /\d+ rows agent\/[^]*24 rows forecaster\/[^]*\d+ rows entities\/000.parquet[^]*rows scores\/000.parquet/,
  ],
  'docs/verifying.md: Audit': [/release 1 as of [^]*every byte derived again/],
  'docs/verifying.md: From outside': [/every byte of its numbers derived again[^]*"derived":true/],
  'docs/verifying.md: Watch records': [
    /^demo\.example\S* has \d+ entries, taken as they are at this first look\n {2}agent:\S+ is certified by release \d+.*\n {2}forecaster:\S+ is certified by /,
  ],
}

interface Runner {
  command: string
  args: string[]
  tools: string[]
}

const RUNNERS: Record<string, Runner> = {
  sh: { command: 'bash', args: ['-euo', 'pipefail', '-s'], tools: ['bash', 'curl', 'openssl'] },
  js: { command: process.execPath, args: ['--input-type=module'], tools: [] },
  python: { command: 'python3', args: ['-'], tools: ['python3'] },
}

describe.each(['README.md', 'docs/agents.md', 'docs/verifying.md'])(
  '%s, what it tells to run',
  (document) => {
    const counts = new Map<string, number>()
    const runnable = blocksOf(document)
      .filter((block) => block.language in RUNNERS && !isSetup(block))
      .map((block) => {
        const place = `${document}: ${block.heading}`
        const number = counts.get(place) ?? 0
        counts.set(place, number + 1)
        return { ...block, shown: SHOWN[place]?.[number] }
      })

    test.for(runnable)('$heading, line $line: $language', async (block, { skip }) => {
      const { command, args, tools: usual } = RUNNERS[block.language]!
      const tools = block.code.startsWith('python3 ') ? [...usual, 'python3'] : usual
      if (!available(tools)) return skip(`needs ${tools.join(', ')}`)
      const { code, stdout, stderr } = await withVariables(command, args, block.code)
      expect(code, `${stdout}\n${stderr}`).toBe(0)
      expect(block.shown, 'what this block has to show').toBeDefined()
      expect(stdout).toMatch(block.shown!)
    })
  },
)

test.each([
  [
    'node',
    'verify.ts',
    /^no known key of "demo\.example\S*" signed the checkpoint, but .*: known are fvs\.example.*\n$/,
  ],
  [
    'python3',
    'verify.py',
    /^no known key of demo\.example\S* has signed the checkpoint: known are fvs\.example\S+\n$/,
  ],
] as const)(
  '%s examples/%s says that a key has not signed, and exits with 1',
  async (command, file, said) => {
    if (!available([command])) return
    const address = '"$FVS_URL/agents/$AGENT_ID/verification"'
    const line = `${command} examples/${file} ${address} ${vectors('fvs').keys.log.vkey}`
    const { code, stdout, stderr } = await withVariables('bash', ['-c', line], '')
    expect(code).toBe(1)
    expect(stdout).not.toContain('certified')
    expect(stderr).toMatch(said)
  },
)

test('what the examples write is outside the repository, or where git does not look', async () => {
  const ignored = (await readFile(`${REPOSITORY}.gitignore`, 'utf8')).split('\n')
  const left = (await readdir(workspace)).filter((name) => !existsSync(join(REPOSITORY, name)))
  expect(left.filter((name) => !ignored.includes(`${name}/`))).toEqual([])
})

/** Runs a command in the folder of links with the demo's variables, and gives it a text to read. */
function withVariables(command: string, args: readonly string[], input: string): Promise<Ended> {
  const line = `. ${variablesFile} && exec "$0" "$@"`
  return new RunningCommand('bash', ['-c', line, command, ...args], {
    cwd: workspace,
    env: NO_SCRIPTS,
    input,
  }).ended
}

/** Whether this machine has the tools; aloud where it has not, and in CI it must. */
function available(tools: readonly string[]): boolean {
  const missing = tools.filter(
    (tool) => spawnSync(tool, [tool === 'openssl' ? 'version' : '--version']).error,
  )
  if (missing.length === 0) return true
  if (process.env['CI'] === 'true') throw new Error(`not installed: ${missing.join(', ')}`)
  console.warn(`skipped: this example needs ${missing.join(', ')}`)
  return false
}

/** Counts a call in the demo, which a query is to find, and has it taken in. */
async function countCall(): Promise<void> {
  const now = () => new Date()
  const store = await FileStore.begin(data)
  const log = new UsageLog({ store, newId: () => uuidv7(), now })
  log.count({ keyId: 'a key', accountId: 'a key', tier: 'free', day: now().toISOString().slice(0, 10) })
  await log.flush()
  using worker = await openWorker(store, join(folder, 'usage'), { now })
  await compact(worker, 'usage')
}

/** DuckDB as if it had been started in $DATA. */
async function openInData(): Promise<Database> {
  const database = await Database.open({ threads: 2, memoryLimit: '1GB', directory: workspace })
  await database.run(`SET file_search_path = ${literal(data)}`)
  return database
}

/** A semicolon at the end of a line ends a statement. */
function statementsOf(text: string): string[] {
  return text.split(/;\n/).filter((statement) => statement.trim() !== '')
}

describe('queries in SQL', () => {
  test.each(['README.md', 'docs/data.md'])('%s: every query finds rows', async (document) => {
    if (document === 'docs/data.md') await countCall()
    using database = await openInData()
    const queries = blocksOf(document).filter(({ language }) => language === 'sql')
    expect(queries.length).toBeGreaterThan(0)
    for (const { line, code } of queries) {
      for (const statement of statementsOf(code)) {
        const rows = await database.rows(statement)
        const isQuery = !statement.trim().startsWith('SET')
        expect(rows.length > 0, `${document}, line ${line}`).toBe(isQuery)
      }
    }
  })

  test('examples/skill.sql: the skills derived again are those published', async () => {
    using database = await openInData()
    let rows: Record<string, unknown>[] = []
    for (const statement of statementsOf(textOf('examples/skill.sql'))) rows = await database.rows(statement)
    const [{ entities, ...same }] = rows as [Record<string, bigint>]
    expect(entities).toBeGreaterThan(0n)
    expect(same).toEqual({
      same_skills: entities,
      same_interval: entities,
      same_median_interval: entities,
      same_market_interval: entities,
      same_evidence: entities,
      same_title: entities,
    })
  })

  const polars = process.env['DELTA_PYTHON']
  if (!polars)
    console.warn(
      'skipped: Polars needs DELTA_PYTHON; `test/support/python-venv.sh DIR` prints what to export',
    )
  test.skipIf(!polars).each(blocksOf('docs/data.md').filter(({ language }) => language === 'python'))(
    'docs/data.md, line $line: Polars',
    async ({ code }) => {
      const ended = await new RunningCommand(polars!, ['-'], { cwd: data, input: code }).ended
      expect(ended.code, ended.stderr).toBe(0)
      expect(ended.stdout).toMatch(/shape: \([1-9]/)
    },
  )
})

describe('documents say what the sources say', () => {
  test('docs/settings.md names every setting and no other', () => {
    const [, section] = /<!-- settings:([^]*)<!-- end of settings -->/.exec(textOf('docs/settings.md'))!
    // A row of a table, or one of the sandbox's list.
    const named = section!.matchAll(/^(?:\| )?`([A-Z][A-Z0-9_]+)`(?: |[,.]$)/gm)
    expect([...new Set([...named].map(([, name]) => name!))].sort()).toEqual([...SETTING_NAMES].sort())
  })

  test('docs/methodology.md has every parameter with its value', () => {
    const rows = textOf('docs/methodology.md').matchAll(/^\| `(\w+)` +\| ([\d.]+) +\|/gm)
    expect(Object.fromEntries([...rows].map(([, name, value]) => [name!, Number(value)]))).toEqual(
      METHODOLOGY.parameters,
    )
  })

  const pages = ['.', 'docs', 'docs/decisions'].flatMap((path) =>
    readdirSync(`${REPOSITORY}${path}`)
      .filter((name) => name.endsWith('.md'))
      .map((name) => normalize(`${path}/${name}`)),
  )
  test.each(pages)('%s: links lead somewhere', (document) => {
    for (const [, target] of textOf(document).matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
      const [path, anchor] = target!.split('#') as [string, string?]
      const file = path === '' ? document : normalize(join(dirname(document), path))
      expect(existsSync(`${REPOSITORY}${file}`), `${document} → ${target}`).toBe(true)
      if (anchor === undefined) continue
      const headings = [...textOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
        heading!
          .toLowerCase()
          .replace(/[^\w\- ]/g, '')
          .replaceAll(' ', '-'),
      )
      expect(headings, `${document} → ${target}`).toContain(anchor)
    }
  })
})

test("everything that the demo and the examples have written is the sandbox's", async () => {
  const paths = Object.keys(await contentOf(await FileStore.begin(root)))
  expect(paths.filter((path) => path.startsWith('sandbox/releases/')).length).toBeGreaterThan(0)
  // The process that still serves tries production's store, too.
  expect(paths.filter((path) => !/^(sandbox|probe)\//.test(path))).toEqual([])
})

test('Ctrl-C ends the demo and removes its folder', async () => {
  const { stderr } = await demo.stop()
  expect(existsSync(variablesFile)).toBe(false)
  expect(existsSync(demoFolder)).toBe(false)
  expect(stderr).not.toMatch(/error/i)
})
