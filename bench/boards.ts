// Measures what a reader of a service with a hundred thousand people waits for: boards, a profile, searches and
// topics, in Chromium as a phone has it. A page is made for its first caller; then it is in memory.
import { parseArgs } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import { changeNames } from '../pipeline/people/names.ts'
import { ENTRIES_PER_PAGE } from '../pipeline/release/board-order.ts'
import { readManifest, readReleaseFile } from '../pipeline/release/read.ts'
import { FileStore } from '../pipeline/store/file.ts'
import type { Store } from '../pipeline/store/store.ts'
import { leaderboardFolder } from '../pipeline/release/files/leaderboards.ts'
import type { LeaderboardFile } from '../schemas/payloads.ts'
import { type Served, run, startService } from './process.ts'
import { type WorldSize, worldStore } from './world.ts'

const { values } = parseArgs({
  options: {
    people: { type: 'string', default: '100000' },
    runs: { type: 'string', default: '5' },
  },
})
const runs = Number(values.runs)
const people = Number(values.people)
const print = (line = '') => process.stdout.write(`${line}\n`)

/** Three fifths of the entities are people. Nearly all have the questions that a place takes. */
const entities = Math.ceil((people * 5) / 3)
const QUESTIONS_EACH = 35
const size: WorldSize = {
  entities,
  forecasts: entities * QUESTIONS_EACH,
  questions: Math.ceil(entities / 30),
  forecastsPerPair: 1,
}

/** 1.6 Mbit/s, as for the other pages in bench/notes/pages.md. */
const PHONE = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 }
const SLOWER = 4

/** A busy machine may paint after the network has become quiet. */
const FIRST_PAINT = `new Promise((resolve) =>
  new PerformanceObserver((list) => {
    const found = list.getEntriesByName('first-contentful-paint')[0]
    if (found) resolve(found.startTime)
  }).observe({ type: 'paint', buffered: true }))`

const root = await worldStore(size)
await run('release.ts', root, '2', '3GB')
const store = await FileStore.begin(root)
const ids = await nameEveryone(store)
const last = Math.ceil(ids.length / ENTRIES_PER_PAGE)

/** Each with pages of its kind that nobody has asked for yet, to see what making one takes. */
const PAGES: Record<string, (nth: number) => string> = {
  'a board, first page': () => '/view/forecasters',
  'a board, middle page': (nth) => `/view/forecasters?page=${Math.ceil(last / 2) + nth}`,
  'a board, last page': (nth) => `/view/forecasters?page=${last - nth}`,
  'a board of a topic, first page': () => '/view/forecasters?category=bench',
  'a board of a topic, middle page': (nth) =>
    `/view/forecasters?category=bench&page=${Math.ceil(last / 3) + nth}`,
  'all topics': () => '/view/topics',
  'a topic': () => '/view/topics/bench',
  'a profile': (nth) => `/view/forecasters/${ids[Math.ceil(ids.length / 2) + nth]}`,
  'a search that finds one': (nth) => `/view/search?q=${encodeURIComponent(`Person ${12_345 + nth}`)}`,
  'a search that finds thousands': (nth) => `/view/search?q=${encodeURIComponent(`erson ${1 + nth}`)}`,
  'the 50th page of a search': (nth) => `/view/search?q=person&in=people&page=${50 + nth}`,
  'a search that finds nobody': (nth) => `/view/search?q=zebra${nth}`,
}

await using service = await startService(root)
const browser = await chromium.launch({ executablePath: process.env['CHROMIUM']!, args: ['--no-sandbox'] })
print(
  `${ids.length.toLocaleString('en')} people; medians of ${runs} runs, and processor time of the service, which is counted in hundredths of a second`,
)
print('| page | bytes | first paint ms | first call, processor ms | next call, processor ms |')
print('| --- | --- | --- | --- | --- |')
for (const [name, path] of Object.entries(PAGES)) {
  const first = await cpuMs(service, (nth) => path(nth), runs)
  const again = await cpuMs(service, () => path(0), 50)
  const seen = []
  for (let nth = 0; nth < runs; nth++) seen.push(await look(browser, service.url + path(0)))
  const [bytes, paintMs] = [median(seen.map((one) => one.bytes)), median(seen.map((one) => one.paintMs))]
  print(`| ${name} | ${bytes} | ${Math.round(paintMs)} | ${first.toFixed(1)} | ${again.toFixed(1)} |`)
}
await browser.close()

/** The processor time of a call, on average, from a service that does nothing else. */
async function cpuMs(
  { url, cpuSeconds }: Served,
  path: (nth: number) => string,
  calls: number,
): Promise<number> {
  const before = await cpuSeconds()
  for (let nth = 0; nth < calls; nth++) {
    const answer = await fetch(url + path(nth))
    if (!answer.ok) throw new Error(`${path(nth)}: ${await answer.text()}`)
    await answer.arrayBuffer()
  }
  return ((await cpuSeconds()) - before) * (1000 / calls)
}

/** Opens a page in a browser that has nothing of the service yet. */
async function look(opened: Browser, url: string): Promise<{ bytes: number; paintMs: number }> {
  const context = await opened.newContext({ viewport: { width: 360, height: 740 } })
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', PHONE)
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
  await page.goto(url, { waitUntil: 'networkidle' })
  const paintMs = await page.evaluate<number>(FIRST_PAINT)
  await context.close()
  return { bytes, paintMs }
}

/** Gives everyone on the board a name by their place, and returns their ids in its order. */
async function nameEveryone(of: Store): Promise<string[]> {
  const { files } = (await readManifest(of, 1))!
  const found: string[] = []
  for (const file of files.filter(({ path }) => path.startsWith(leaderboardFolder('forecaster')))) {
    const { entries } = await readReleaseFile<LeaderboardFile>(of, 1, file)
    found.push(...entries.map((entry) => ('user_id' in entry ? entry.user_id : entry.agent_id)))
  }
  await changeNames(of, new Map(found.map((id, place) => [id, { name: `Person ${place + 1}` }])))
  return found
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!
}
