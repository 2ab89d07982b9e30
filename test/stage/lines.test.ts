// What a stage makes of its lines: repetitions, and an error for every input that is not whole or not in
// order.
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { type Input, lineOf } from '../../pipeline/stage/lines.ts'
import { partLines } from '../../pipeline/stage/parts.ts'
import { scoreLines } from '../../pipeline/stage/score.ts'
import { sweepLines } from '../../pipeline/stage/sweep.ts'
import { readTally, storeTally } from '../../pipeline/stage/tally.ts'
import { PAIR_METRICS } from '../../schemas/metrics.ts'
import { inputOf, textOf } from '../support/stage-lines.ts'

/** In the order of the columns. */
type Event = (string | number | null)[]
const event = (
  question: number,
  at: number,
  id: string,
  entity: number | null,
  ppm: number,
  recorded = 0,
): Event => [question, 0, 1000, 1000, 1, at, id, recorded, entity, entity === null ? 0 : 1, ppm, 0]
const linesOf = (rows: Event[]) => rows.map(lineOf).join('')
const sweep = (text: string, pieceBytes?: number) =>
  textOf(sweepLines(METHODOLOGY, inputOf(text, pieceBytes)))
const score = (text: string) => textOf(scoreLines(METHODOLOGY, inputOf(text)))

const EVENTS = [
  event(0, 10, 'a', 7, 500_000),
  event(0, 10, 'b', 8, 250_000),
  event(0, 20, 'c', 7, 750_000),
  event(2, 10, 'd', 9, 100_000),
]
const METRICS = Object.keys(PAIR_METRICS)
/** Of each line of pairs its question and entity, and the number of forecasts. */
const counted = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'))
    .map((fields) => [fields[0], fields[1], fields[2 + METRICS.indexOf('forecasts')]])

describe('the sweep', () => {
  test('prints a line for each pair, and one with the number of forecasts for each question', async () => {
    expect(counted(await sweep(linesOf(EVENTS)))).toEqual([
      ['0', '\\N', '3'],
      ['0', '7', '2'],
      ['0', '8', '1'],
      ['2', '\\N', '1'],
      ['2', '9', '1'],
    ])
  })

  test('prints the same however the input is divided, and nothing without input', async () => {
    const text = linesOf(EVENTS)
    const whole = await sweep(text)
    for (const bytes of [1, 2, 3, 7]) expect(await sweep(text, bytes)).toBe(whole)
    expect(await sweep('')).toBe('')
  })

  test.for([
    ['an import', 'e5c5a36c-0d53-5a3e-9d6f-0a1b2c3d4e5f'],
    ['the API', '019a0000-0000-7000-8000-000000000000'],
  ] as const)('takes rows of one id from %s as one forecast, the one recorded first', async ([, id]) => {
    const once = [event(0, 10, id, 7, 400_000, 5), event(0, 20, 'f', 7, 500_000)]
    const again = once.toSpliced(1, 0, event(0, 10, id, 7, 900_000, 6), event(0, 10, id, 7, 900_000, 6))
    expect(await sweep(linesOf(again))).toBe(await sweep(linesOf(once)))
  })

  test('counts the forecasts of entities that nobody knows, and sweeps the others', async () => {
    const unknown = event(0, 10, 'aa', null, 500_000)
    expect(counted(await sweep(linesOf(EVENTS.toSpliced(1, 0, unknown)))).slice(0, 3)).toEqual([
      ['0', '\\N', '4'],
      ['0', '7', '2'],
      ['0', '8', '1'],
    ])
  })
})

/** Two entities with pairs and one without, as the stage that scores reads them. */
const SCORED = [
  [0, 1, 1_000_000, 2, 1, 3, 1, 0, -1, ...METRICS.map(() => 1)],
  [0, 1, 1_000_000, 2, 1, 5, 0, 1, 4, ...METRICS.map(() => 2)],
  [1, 0, 900_000, 2, 2, 3, 1, 0, 7, ...METRICS.map(() => 3)],
  [2, 0, 1_000_000, null, null, ...Array.from({ length: 4 + METRICS.length }, () => null)],
]

test('the scores have a line for each entity, also for one without a pair', async () => {
  const lines = (await score(linesOf(SCORED))).trimEnd().split('\n')
  expect(lines.map((line) => line.split('\t').slice(0, 4))).toEqual([
    ['0', '2', '0', '1'],
    ['1', '1', '0', '0'],
    ['2', '0', '0', '0'],
  ])
})

const PARTS = linesOf([
  [0, 'agent', 256, 5],
  [1, 'agent', 10, 2],
  [2, 'forecaster', 3, 0],
])
const TALLY = linesOf([
  ['agent', null, 3],
  ['agent', -100, 1],
  ['agent', 5, 2],
  ['forecaster', null, 0],
])
const parts = (input: Input) => partLines(input, { pairs: 4, entities: 300 })
const tally = (input: Input) => storeTally(new MemoryStore(), 1, 'recorded', input)

test('the parts of each shard are those of a release in one process', async () => {
  expect(await parts(inputOf(PARTS))).toBe('0\t0\t0\n1\t0\t1\n2\t1\t2\n')
})

test('the tally is read as it was stored, by its hash', async () => {
  const store = new MemoryStore()
  const sha256 = await storeTally(store, 1, 'everyone', inputOf(TALLY))
  expect(await storeTally(store, 1, 'everyone', inputOf(TALLY))).toBe(sha256)
  expect(await readTally(store, 1, sha256)).toEqual({
    voiceRule: 'everyone',
    tallies: {
      agent: { population: 3, skills: [-0.0001, 0.000005], counts: [1, 2] },
      forecaster: { population: 0, skills: [], counts: [] },
    },
  })
  await expect(readTally(store, 2, sha256)).rejects.toMatchObject({ kind: 'notFound' })
})

describe.each<[string, string, (text: string) => Promise<string>]>([
  ['sweep', linesOf(EVENTS), (text) => sweep(text)],
  ['score', linesOf(SCORED), score],
  ['parts', PARTS, (text) => parts(inputOf(text))],
  ['tally', TALLY, (text) => tally(inputOf(text))],
])('%s refuses', (_name, text, run) => {
  const isWhole = (length: number) => length === 0 || text[length - 1] === '\n'

  test('an input that is cut off inside a line, at every byte', async () => {
    for (let length = 0; length < text.length; length++) {
      if (isWhole(length)) continue
      await expect(run(text.slice(0, length)), text.slice(0, length)).rejects.toMatchObject({
        kind: 'invalid',
      })
    }
  })

  test('lines in any other order', async () => {
    const lines = text.trimEnd().split('\n')
    for (let at = 1; at < lines.length; at++) {
      const swapped = lines.with(at - 1, lines[at]!).with(at, lines[at - 1]!)
      await expect(run(`${swapped.join('\n')}\n`), swapped.join('\n')).rejects.toThrow(/out of order/)
    }
  })

  test('a line with a field too many or too few, and an empty line', async () => {
    const [first] = text.split('\n') as [string]
    for (const line of [`${first}\t0`, first.slice(0, first.lastIndexOf('\t')), '']) {
      await expect(run(`${line}\n`)).rejects.toThrow(/fields?, and not/)
    }
  })

  test('a number that is none', async () => {
    const [first] = text.split('\n') as [string]
    const fields = first.split('\t')
    const at = fields.findLastIndex((field) => /^-?\d+$/.test(field))
    for (const wrong of ['', '1.5', '1e3', 'x', ' 1', '99999999999999999999']) {
      await expect(run(`${fields.with(at, wrong).join('\t')}\n`), wrong).rejects.toMatchObject({
        kind: 'invalid',
      })
    }
  })
})

test('bytes that are not UTF-8 are refused', async () => {
  const broken = async function* () {
    yield Buffer.concat([Buffer.from(linesOf(EVENTS)), Buffer.from([0xff, 0x0a])])
  }
  await expect(textOf(sweepLines(METHODOLOGY, broken()))).rejects.toMatchObject({ kind: 'invalid' })
})

test('docs/stages.md has the columns of every line in their order', async () => {
  const text = await readFile(new URL('../../docs/stages.md', import.meta.url), 'utf8')
  const documented = text.replaceAll(/[^a-z_ ]+/g, ' ')
  const named = async (lines: AsyncIterable<string> | Promise<string>) => {
    const failed = 'then' in lines ? lines : textOf(lines)
    const message = await failed.then(
      () => '',
      (error: Error) => error.message,
    )
    return /and not \d+: (.*)$/.exec(message)![1]!.split(', ')
  }
  const wrong = () => inputOf('x\n')
  const formats = [
    await named(sweepLines(METHODOLOGY, wrong())),
    (await named(scoreLines(METHODOLOGY, wrong()))).slice(0, 10),
    await named(partLines(wrong())),
    await named(tally(wrong())),
  ]
  for (const columns of formats) {
    expect(documented.replaceAll(/ (yes|no) /g, ' ').replaceAll(/ +/g, ' ')).toContain(columns.join(' '))
  }
})
