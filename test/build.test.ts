// The program that `npm ci` builds: it is what the sources make now, and does what they do.
import { execFile } from 'node:child_process'
import { cp, readFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { COMMANDS } from '../jobs/commands.ts'
import { REPOSITORY } from './support/fenced-blocks.ts'
import { suiteFolder, testFolder } from './support/folder.ts'
import { fvs, fvsServe } from './support/process.ts'
import { inboxRows } from './support/inbox-rows.ts'
import { Client, bearer, testComponents } from './support/http/service.ts'
import { QUESTION, type WorldAgent, copyReleasedWorld, forecasterId } from './support/worlds/world.ts'

const BUILT = join(REPOSITORY, 'dist')
const PROGRAMS = { built: join(BUILT, 'fvs.js'), sources: join(REPOSITORY, 'jobs/fvs.js') }

const released = await suiteFolder()
let agent: WorldAgent
beforeAll(async () => {
  agent = await copyReleasedWorld((await testComponents({ folder: released })).store)
})

async function freshStore(): Promise<{ folder: string; store: string }> {
  const folder = await testFolder()
  const store = join(folder, 'store')
  await cp(join(released, 'store'), store, { recursive: true })
  return { folder, store }
}

async function contentOf(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).toSorted()
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return Object.fromEntries(names.map((name, index) => [name, texts[index]!]))
}

test('is made of the sources as they are: otherwise run `npm run build`', async () => {
  // Beside it, because what is built names the places of the sources.
  const again = `dist-${process.pid}`
  onTestFinished(() => rm(join(REPOSITORY, again), { recursive: true, force: true }))
  await promisify(execFile)(process.execPath, [join(REPOSITORY, 'jobs/build.ts'), again])
  const [built, now] = await Promise.all([contentOf(BUILT), contentOf(join(REPOSITORY, again))])
  expect(Object.keys(built)).toEqual(Object.keys(now))
  for (const [name, text] of Object.entries(now)) expect(built[name] === text, name).toBe(true)
})

describe('the program that is built', () => {
  const HELP = [['--help'], ...Object.keys(COMMANDS).map((name) => [name, '--help'])]

  test('helps with the same commands as the sources', async () => {
    const { folder } = await freshStore()
    for (const args of HELP) {
      const built = await fvs(args, { folder, program: PROGRAMS.built })
      expect(built, args.join(' ')).toEqual(await fvs(args, { folder }))
      expect(built.code).toBe(0)
    }
  })

  test('does and prints what the sources do', async () => {
    const { folder, store } = await freshStore()
    const env = { STORE_URL: store, LOG_LEVEL: 'error' }
    for (const args of [
      ['audit', '--json'],
      ['agents', 'list'],
      ['keys', 'list', '--json'],
      ['import', 'questions', '--template'],
      ['import', 'questions', join(folder, 'nothing.csv')],
      ['release', '--if-changed', '--as-of', '2026-03-01T12:00:00Z', '--json'],
      ['serve', '--port'],
    ]) {
      const built = await fvs(args, { folder, env, program: PROGRAMS.built })
      expect(built, args.join(' ')).toEqual(await fvs(args, { folder, env }))
    }
  })

  test('demo: scores, releases, serves, signs and audits', async () => {
    const { folder } = await freshStore()
    const { code, stdout, stderr } = await fvs(['demo', '--exit', '--json'], {
      folder,
      program: PROGRAMS.built,
    })
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, audit: { ok: true } })
  })

  test('serves what the sources do, takes forecasts and stops', async () => {
    const { folder, store } = await freshStore()
    const env = { STORE_URL: store }
    const services = await Promise.all([
      fvsServe({ folder, env, program: PROGRAMS.built }, '--no-scheduler'),
      fvsServe({ folder, env }, '--no-scheduler'),
    ])
    const [built, sources] = services.map(({ url }) => new Client(url)) as [Client, Client]
    const pages = (await built.get('/')).text + (await built.get('/view/verify')).text
    const assets = new Set([...pages.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path!))
    expect([...assets]).toContainEqual(expect.stringMatching(/\/verify\.js$/))
    for (const path of [
      ...assets,
      `/forecaster/${forecasterId(0)}/verification`,
      `/forecaster/${forecasterId(0)}/scores`,
      `/forecaster/${forecasterId(0)}/card.png`,
      `/view/forecasters/${forecasterId(0)}`,
      '/questions',
      '/methodology',
      '/view/methodology',
      '/openapi.json',
      '/docs',
      '/docs/data',
      '/nothing',
    ]) {
      const [ours, theirs] = await Promise.all([built.get(path), sources.get(path)])
      expect([ours.status, ours.text], path).toEqual([theirs.status, theirs.text])
    }
    const submitted = await built.post(
      `/agents/${agent.agentId}/forecast`,
      { question_id: QUESTION.open, probability: 0.5 },
      bearer(agent.key),
    )
    expect(submitted.json()).toMatchObject({ probability: 0.5 })
    const kept = await inboxRows((await testComponents({ folder })).store, 'forecasts')
    expect(kept.map(({ forecast_id }) => forecast_id)).toEqual([submitted.json()['forecast_id']])
    for (const { kill } of services) kill('SIGTERM')
    for (const { finished } of services) expect(await finished).toMatchObject({ code: 0 })
  })
})
