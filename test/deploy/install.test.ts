// What deploy/ installs, in a root of its own: the steps of the Containerfile, and those of docs/run.md for
// systemd.
import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { appendFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { SANDBOX_PREFIX, SETTING_NAMES, parseSettings } from '../../schemas/config.ts'
import { ENVIRONMENTS } from '../../schemas/values.ts'
import { type Image, buildImage } from '../support/containerfile.ts'
import { REPOSITORY, blocksOf, textOf } from '../support/fenced-blocks.ts'
import { suiteFolder } from '../support/folder.ts'
import { freePort } from '../support/free-port.ts'
import { SECRET } from '../support/http/service.ts'
import { RootFolder, canChangeRoot, copyTree } from '../support/root-folder.ts'

const folder = await suiteFolder()
const SERVING = /"msg":"serving"/
/** What another program than systemd has to make. */
const STATE = ['/var/lib/fvs', '/var/cache/fvs']
/** What a shell may have set, and no command of the service may follow. */
const MISLEADING = { STORE_URL: '/tmp/elsewhere', FVS_ENV_FILE: '/tmp/nothing', LOG_LEVEL: 'silent' }

let image: Image
beforeAll(async () => {
  if (!canChangeRoot) return
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim()
  const env = { npm_config_cache: '/npm-cache', npm_config_prefer_offline: 'true', HOME: '/root' }
  await mkdir(cache, { recursive: true })
  image = await buildImage(folder, { env, shown: { [cache]: '/npm-cache' } })
})

test('every setting that deploy/ names is one of the service, or of the client of S3', () => {
  const named = (document: string, name: RegExp) =>
    [...textOf(document).matchAll(name)].map(([, found]) => found!)
  const names = [
    ...named('deploy/fvs.env', /^#?(\w+)=/gm),
    ...named('deploy/compose.yaml', /^ {6}((?!MINIO)[A-Z]\w+): /gm),
    ...named('deploy/Containerfile', /\b(HOST|PORT|STORE_URL|CACHE_DIR)=/g),
  ]
  const isAws = (name: string) => /^AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|REGION)$/.test(name)
  expect(names.length).toBeGreaterThan(15)
  expect(names.filter((name) => !SETTING_NAMES.includes(name) && !isAws(name))).toEqual([])
})

test('deploy/fvs.env names every setting without a default: only the operator knows its value', () => {
  const named = [...textOf('deploy/fvs.env').matchAll(/^#?(\w+)=/gm)].map(([, found]) => found!)
  const parsed = parseSettings({})
  const withoutDefault = SETTING_NAMES.filter((name) => parsed[name as keyof typeof parsed] === undefined)
  // A previous key is set for a while, when one is replaced.
  const needed = withoutDefault.filter((name) => !name.endsWith('_PREVIOUS'))
  expect(needed).toContain('CREDENTIAL_SIGNING_KEY')
  expect(needed.filter((name) => !named.includes(name))).toEqual([])
})

test('every file of deploy/ that names one key of an environment names all of them', () => {
  const keys = SETTING_NAMES.filter((name) => /(?:SECRET|SIGNING_KEY)$/.test(name))
  const files = readdirSync(`${REPOSITORY}deploy`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const missing = files.flatMap((file) => {
    const named = new Set(readFileSync(file, 'utf8').match(/\b[A-Z][A-Z_]+\b/g))
    return ENVIRONMENTS.flatMap((environment) => {
      const own = keys.filter((name) => name.startsWith(SANDBOX_PREFIX) === (environment === 'sandbox'))
      return own.some((name) => named.has(name)) ? own.filter((name) => !named.has(name)) : []
    }).map((name) => `${relative(REPOSITORY, file)}: ${name}`)
  })
  expect(keys).toHaveLength(8)
  expect(missing).toEqual([])
})

describe.skipIf(!canChangeRoot)('the container', () => {
  test('serves, releases and stops without rights, on a root that it cannot write', async () => {
    const { root, user, words, healthCheck } = image
    const env = { ...image.env, PORT: String(await freePort()), VERIFICATION_SIGNING_SECRET: SECRET }
    const contained = { user, env, writable: STATE }
    expect(user).not.toBe(0)
    const service = root.start(words, contained)
    await service.printed(SERVING)
    expect((await root.run(healthCheck, contained)).code).toBe(0)
    const url = `http://127.0.0.1:${env.PORT}`
    for (const path of ['/', '/docs', '/view/methodology', '/openapi.json']) {
      expect((await fetch(url + path)).status, path).toBe(200)
    }
    const key = await root.run(['fvs', 'keys', 'create', '--owner', 'a client', '--json'], contained)
    expect(key.code, key.stderr).toBe(0)
    const release = await root.run(['fvs', 'release', '--json'], contained)
    expect(JSON.parse(release.stdout), release.stderr).toMatchObject({ made: true, release: 1 })
    const written = await root.run(['touch', '/opt/fvs/x'], contained)
    expect(written).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Read-only file system') as string,
    })
    const { code, stderr } = await service.stop('SIGTERM')
    expect(code, stderr).toBe(0)
    expect(stderr).not.toMatch(/"level":[456]0/)
    expect((await root.run(healthCheck, contained)).code).toBe(1)
  })
})

describe.skipIf(!canChangeRoot)('the units of systemd', () => {
  const UNITS =
    'fvs-serve.service fvs-serve@2.service fvs-release.service fvs-release.timer fvs-backup.service fvs-backup.timer'.split(
      ' ',
    )
  const WORST_RATING = 20
  let machine: RootFolder
  const installed = (path: string) => readFile(join(machine.path, path), 'utf8')

  beforeAll(async () => {
    machine = await RootFolder.make(join(folder, 'machine'))
    await copyTree(join(image.root.path, 'opt/fvs'), join(machine.path, 'opt/fvs'))
    await cp(join(REPOSITORY, 'deploy'), join(machine.path, 'opt/fvs/deploy'), { recursive: true })
    const steps = blocksOf('docs/run.md').find(({ code }) => code.includes('systemd-sysusers'))!
    const install = steps.code.replaceAll(/^(git|npm|\$EDITOR|systemctl) .*\n/gm, '')
    const { code, stderr } = await machine.run(['sh', '-euc', install])
    if (code !== 0) throw new Error(`the steps of docs/run.md failed: ${stderr}`)
    const settings = join(machine.path, 'etc/fvs/fvs.env')
    await appendFile(settings, `\nPORT=0\nVERIFICATION_SIGNING_SECRET='${SECRET}'\n`)
  })

  test('pass the check of systemd, and are rated OK or better', async () => {
    const { code, stdout, stderr } = await machine.run(['systemd-analyze', 'verify', ...UNITS])
    expect([code, stdout, stderr]).toEqual([0, '', ''])
    const services = UNITS.filter((unit) => unit.endsWith('.service'))
    const rate = ['systemd-analyze', 'security', '--offline=true', `--threshold=${WORST_RATING}`]
    const rated = await machine.run([...rate, '--no-pager', ...services])
    expect(rated.code, rated.stdout + rated.stderr).toBe(0)
  })

  test('serve the store on which /usr/local/bin/fvs works, whatever its caller has set', async () => {
    const folders = ['install', '-d', '-m', '750', '-o', 'fvs', '-g', 'fvs', ...STATE]
    expect((await machine.run(folders)).code).toBe(0)
    const [, user] = /^fvs:[^:]*:(\d+):\1:/m.exec(await installed('etc/passwd'))!
    const [, command] = /^ExecStart=(.*) \$SERVE_OPTIONS$/m.exec(
      await installed('etc/systemd/system/fvs-serve.service'),
    )!
    const [, name, value] = /^Environment=(\w+)=(.*)$/m.exec(
      await installed('etc/systemd/system/fvs-.service.d/sandbox.conf'),
    )!
    const env = { [name!]: value! }
    const unit = machine.start(command!.split(' '), { user: Number(user), env, writable: STATE })
    const [, url] = await unit.printed(/"url":"([^"]+)".*"msg":"serving"/)

    const fvs = (...words: string[]) => machine.run(['/usr/local/bin/fvs', ...words], { env: MISLEADING })
    const created = await fvs('keys', 'create', '--owner', 'a client', '--json')
    expect(created.code, created.stderr).toBe(0)
    const { api_key } = JSON.parse(created.stdout) as { api_key: string }
    const usage = await fetch(`${url}/usage`, { headers: { Authorization: `Bearer ${api_key}` } })
    expect(usage.status).toBe(200)

    const asItself = { user: Number(user), env: MISLEADING }
    const listed = await machine.run(['/usr/local/bin/fvs', 'keys', 'list', '--json'], asItself)
    expect(listed.stdout, listed.stderr).toContain('a client')
    const stranger = await machine.run(['/usr/local/bin/fvs', 'keys', 'list'], { user: 65_534 })
    expect(stranger).toMatchObject({ code: 2, stderr: expect.stringContaining('sudo fvs') as string })
    await writeFile(join(machine.path, 'etc/fvs/fvs.env'), 'STORE_URL=data\n')
    expect(await fvs('keys', 'list')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('begins with /') as string,
    })
    expect((await unit.stop('SIGTERM')).code).toBe(0)
  })
})
