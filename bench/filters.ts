// What a page of questions costs, by filter: the processor time of a call on the lists that a node keeps, and
// their memory.
import { parseArgs } from 'node:util'
import { Listing } from '../api/questions/listing.ts'
import type { KnownQuestion } from '../api/questions/question.ts'

const DAY_MS = 86_400_000
const NOW = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS)
const MIB = 1024 * 1024
/** Words of every title, so that a search for them excludes nothing. */
const COMMON = 'will it come about as they all have said in the long run if no one does what was asked'.split(
  ' ',
)

const { values } = parseArgs({ options: { sizes: { type: 'string', default: '100000,1000000' } } })

/**
 * Titles of 8 to 21 words: some common ones, ten of a thousand, one of a pair that excludes the other, and a
 * number of its own.
 */
function questionOf(number: number): KnownQuestion {
  const rare = Array.from({ length: 4 }, (_, nth) => `word${(number * (nth * 2 + 7919)) % 1_000}`)
  const title = [
    ...COMMON.slice(0, 3 + (number % 18)),
    ...rare,
    Math.floor(number / 200) % 2 === 0 ? 'even' : 'odd',
    number,
  ]
  const isOpen = number % 100 === 0
  const closesAtMs = NOW.getTime() + (isOpen ? 1 + (number % 50) : -1 - (number % 200)) * DAY_MS
  return {
    question_id: `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`,
    title: `${title.join(' ')}?`,
    category: `category ${number % 20}`,
    url: null,
    event_id: null,
    position: null,
    option: null,
    source: 'bench',
    source_id: String(number),
    openedAtMs: closesAtMs - (1 + (number % 90)) * DAY_MS,
    closesAtMs,
    outcome: isOpen || number % 1_000 === 1 ? null : number % 3 === 0 ? 'yes' : 'no',
    resolvedAtMs: isOpen || number % 1_000 === 1 ? null : closesAtMs,
    knownAtMs: null,
    updatedAtMs: closesAtMs,
    file: 0,
  }
}

const ms = (days: number) => NOW.getTime() + days * DAY_MS
const all = COMMON.slice(0, 18)
const CALLS = {
  'no filter': {},
  'status=open': { status: 'open' },
  'status=closed': { status: 'closed' },
  category: { category: 'category 7' },
  closes_before: { closes_before: ms(-150) },
  opened_after: { opened_after: ms(-30) },
  'q, one common word': { q: ['will'] },
  'q, one rare word': { q: ['word77'] },
  'q, one of its own': { q: ['77777'] },
  'q, 20 common words': { q: [...new Set(COMMON)].slice(0, 19).concat('even') },
  'q, two words that exclude each other': { q: ['even', 'odd'] },
  'q, 20 words, two exclude each other': { q: [...all, 'even', 'odd'] },
  'open, category, q, both times': {
    status: 'open',
    category: 'category 0',
    q: ['will', 'come'],
    closes_before: ms(40),
    opened_after: ms(-30),
  },
  'resolved, category, 20 words, both times': {
    status: 'resolved',
    category: 'category 7',
    q: [...all, 'even', 'odd'],
    closes_before: ms(-1),
    opened_after: ms(-400),
  },
  'open, opened_after, of which none is': { status: 'open', opened_after: ms(30) },
} as const satisfies Record<string, Parameters<Listing['page']>[0] | object>

const print = (line: string) => process.stdout.write(`${line}\n`)
for (const size of values.sizes.split(',').map(Number)) {
  const questions = Array.from({ length: size }, (_, number) => questionOf(number))
  questions.sort((a, b) => a.closesAtMs - b.closesAtMs || (a.question_id < b.question_id ? -1 : 1))
  const before = heap()
  const listing = new Listing()
  const started = process.cpuUsage()
  let longestMs = 0
  for (let from = 0; from < size; from += 10_000) {
    const begun = performance.now()
    listing.change([], questions.slice(from, from + 10_000), NOW)
    longestMs = Math.max(longestMs, performance.now() - begun)
  }
  const { user, system } = process.cpuUsage(started)
  const grown = heap() - before
  print(
    `\n${size.toLocaleString('en')} questions: taken in in ${((user + system) / 1e6).toFixed(2)} s of processor time, ` +
      `10,000 in at most ${longestMs.toFixed(0)} ms; the lists take ${grown.toFixed(0)} MiB\n`,
  )
  const again = questions.slice(size / 2, size / 2 + 100).toSorted((a, b) => a.closesAtMs - b.closesAtMs)
  const resolved = again.map((question) => ({ ...question, outcome: 'annulled' as const }))
  let begun = performance.now()
  listing.change([...again], resolved, NOW)
  print(`100 outcomes: ${(performance.now() - begun).toFixed(1)} ms`)
  begun = performance.now()
  listing.change(
    [...resolved],
    resolved.map((question) => ({ ...question, title: 'Will it come to odd ends?' })),
    NOW,
  )
  print(`100 other titles: ${(performance.now() - begun).toFixed(1)} ms\n`)
  print('| filter | µs a page of 100 | shown | pages to the end |')
  print('| --- | --- | --- | --- |')
  for (const [name, filters] of Object.entries(CALLS)) {
    const page = (cursor?: string) => listing.page({ ...filters, limit: 100, cursor, now: NOW })
    for (let nth = 0; nth < 50; nth++) page()
    const begunCpu = process.cpuUsage()
    for (let nth = 0; nth < 200; nth++) page()
    const used = process.cpuUsage(begunCpu)
    let shown = 0
    let pages = 0
    for (let cursor: string | undefined; pages < 100_000;) {
      const { questions: found, next_cursor } = page(cursor)
      pages += 1
      shown += found.length
      if (next_cursor === null) break
      cursor = next_cursor
    }
    print(
      `| ${name} | ${((used.user + used.system) / 200).toFixed(0)} | ${page().questions.length} of ${shown} | ${pages} |`,
    )
  }
}

function heap(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / MIB
}
