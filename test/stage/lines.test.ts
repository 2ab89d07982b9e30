// What a stage makes of its lines: repetitions, and an error for every input that is not whole or not in
// order.
import { describe, expect, test } from 'vitest'
import type { Listing } from '../../pipeline/scoring/categories.ts'
import type { EntityScores } from '../../pipeline/scoring/entity.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { type Input, lineOfFields } from '../../pipeline/release/stage/lines.ts'
import { partLines } from '../../pipeline/release/stage/parts.ts'
import { scoreLines } from '../../pipeline/release/stage/score.ts'
import { sweepLines } from '../../pipeline/release/stage/sweep.ts'
import { readTally, storeTally } from '../../pipeline/release/stage/tally.ts'
import { PAIR_METRICS } from '../../schemas/metrics.ts'
import { columnsRead, documentedColumns, inputOf, textOf } from '../support/stage-lines.ts'

/** In the order of the columns. */
type Event = (string | number | null)[]
const event = (
  question: number,
  at: number,
  id: string,
  entity: number | null,
  ppm: number,
  recorded = 0,
  ownVoice = entity,
): Event => [question, 0, 1000, 1000, 1, 1, at, id, recorded, entity, ownVoice, ppm, 1]
const linesOf = (rows: Event[]) => rows.map(lineOfFields).join('')
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

  test('has no texts of a question on which nobody that is known has a forecast', async () => {
    const texts = async (entity: number | null) =>
      (await sweep(linesOf([event(0, 10, 'a', entity, 500_000)]))).split('\n')[0]!.split('\t').slice(-2)
    expect(await texts(null)).toEqual(['\\N', '\\N'])
    expect((await texts(7))[1]).toMatch(/^[\d,]+$/)
  })
})

/** The columns of pairs by their names, by the entity. */
const pairsIn = (text: string) =>
  Object.fromEntries(
    text
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'))
      .filter(([, entity]) => entity !== '\\N')
      .map(([, entity, ...values]) => [
        entity,
        Object.fromEntries(METRICS.map((name, at) => [name, Number(values[at])])),
      ]),
  ) as Record<string, Record<string, number>>

describe('the sweep of an owner’s further agent', () => {
  const others = [500_000, 250_000, 125_000, 750_000, 0].map((ppm, nth) =>
    event(0, 0, `a${nth}`, 7 + nth, ppm),
  )
  const further = event(0, 10, 'd', 20, 900_000, 0, 3)

  test('leaves out the owner’s voice, whether that comes before it, after it or not at all', async () => {
    const alone = pairsIn(await sweep(linesOf([...others, further])))
    expect(alone[20]).toMatchObject({ voices: 5, judged: 1 })
    expect(alone).not.toHaveProperty('3')
    const before = [...others, event(0, 0, 'c', 3, 0), further]
    const after = [...others, further, event(0, 500, 'e', 3, 0)]
    for (const events of [before, after]) {
      const { 20: found, 3: voice } = pairsIn(await sweep(linesOf(events)))
      const { average_brier, average_brier_if_other } = alone[20]!
      expect(found).toMatchObject({ average_brier, average_brier_if_other, voices: 5 })
      // The further agent is no voice.
      expect(voice).toMatchObject({ voices: 5 })
    }
  })

  test('numbers more entities on a question than any before it', async () => {
    const many = Array.from({ length: 300 }, (_, at) =>
      event(0, 0, String(1000 + at), at, 1000 * at, 0, at % 3 === 0 ? null : at % 3 === 1 ? at : 1000 + at),
    )
    const pairs = pairsIn(await sweep(linesOf(many)))
    expect(Object.keys(pairs)).toHaveLength(300)
    expect(pairs[0]).toMatchObject({ voices: 100 })
    expect(pairs[1]).toMatchObject({ voices: 99 })
    expect(pairs[299]).toMatchObject({ voices: 100 })
  })
})

test('a withdrawal ends the time that is held, and the pair', async () => {
  const events = [event(0, 0, 'a', 7, 500_000), event(0, 250, 'b', 7, -1), event(0, 900, 'c', 8, -1)]
  const text = await sweep(linesOf(events))
  expect(counted(text)[0]).toEqual(['0', '\\N', '3'])
  expect(pairsIn(text)).toMatchObject({
    7: { coverage: 250_000_000_000, forecasts: 1, closing_probability: -1 },
  })
  expect(pairsIn(text)).not.toHaveProperty('8')
})

test('a pair is witnessed if all its forecasts are', async () => {
  const seen = event(0, 0, 'a', 7, 500_000)
  const unseen = seen.with(6, 10).with(7, 'b').with(12, 0)
  expect(pairsIn(await sweep(linesOf([seen])))[7]).toMatchObject({ witnessed: 1 })
  expect(pairsIn(await sweep(linesOf([seen, unseen])))[7]).toMatchObject({ witnessed: 0 })
})

/** Two entities with pairs and one without, as the stage that scores reads them. */
const SCORED = [
  [0, 1, 'a', 2, 2, 1, 9, 2, 0, 3, 1, 1, 700, 3, 0, 0, -1, 0, 1, ...METRICS.map(() => 1)],
  [0, 1, 'a', 2, 2, 1, 9, 2, 0, 5, 0, 1, 800, 1, 1, 0, 0, 0, 1, ...METRICS.map(() => 2)],
  [1, 0, 'a', 2, 2, 2, 9, 1, 1, 3, 1, 1, 700, 3, 0, 0, -1, 0, 1, ...METRICS.map(() => 3)],
  [2, 0, null, null, 2, null, 0, 0, 0, ...Array.from({ length: 10 + METRICS.length }, () => null)],
]

test('the scores have a line for each entity, also for one without a pair', async () => {
  const lines = (await score(linesOf(SCORED))).trimEnd().split('\n')
  const nobody = Array.from({ length: 4 }, () => '\\N')
  expect(lines.map((line) => line.split('\t').slice(0, 6))).toEqual([
    ['0', '2', ...nobody],
    ['1', '1', ...nobody],
    ['2', '0', ...nobody],
  ])
})

test('the scores have what ranks an entity with enough contested pairs', async () => {
  const entity = [4, 1, 'a pool', 30, 1, 1, 40, 25, 0]
  const metrics = METRICS.map((name) => (name === 'judged_brier' ? 1e8 : name === 'average_brier' ? 2e8 : 1))
  const rows = Array.from({ length: METHODOLOGY.parameters.eligible_questions }, (_, place) => {
    const question = [place, 1, 1, place, place, place, place, 6, 0, 1]
    return [...entity, ...question, ...metrics]
  })
  const [scored, pairs, pool, skill, lower, upper, json, listing] = (await score(linesOf(rows))).split('\t')
  expect([scored, pairs, pool]).toEqual(['4', '25', 'a pool'])
  const scores = JSON.parse(json!) as EntityScores
  expect(scores).toMatchObject({ offered_questions: 40, answered_share: 0.625 })
  const { lower: least, upper: most } = scores.board_interval!
  expect([skill, lower, upper].map(Number)).toEqual(
    [scores.skill, least, most].map((x) => Math.round(x! * 1e6)),
  )
  const { categories } = JSON.parse(listing!) as Listing
  expect(categories).toMatchObject([
    { category: 6, skill: scores.skill, board_interval: scores.board_interval },
  ])
})

const PARTS = linesOf([
  [0, 'agent', 256, 5],
  [1, 'agent', 10, 2],
  [2, 'forecaster', 3, 0],
])
const TALLY = linesOf([
  ['agent', 0, null, null, null, null, 3],
  ['agent', 0, 'pool 1', -100, null, null, 1],
  ['agent', 0, 'pool 1', 5, -2, 12, 2],
  ['agent', 0, 'pool 2', 5, 3, 7, 1],
  ['agent', 1, null, null, null, null, 1],
  ['agent', 1, 'pool 1', 4, null, null, 1],
  ['agent', 1, 'pool 1', 9, null, null, 2],
  ['agent', 1, 'pool 3', 6, null, null, 1],
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
      agent: {
        population: 12,
        pools: new Map([
          [
            'pool 1',
            {
              // Nobody is ranked among the retired.
              skills: { values: [-0.0001, 0.000005], counts: [1, 2] },
              lowers: { values: [-0.000002], counts: [2] },
              uppers: { values: [0.000012], counts: [2] },
            },
          ],
          [
            'pool 2',
            {
              skills: { values: [0.000005], counts: [1] },
              lowers: { values: [0.000003], counts: [1] },
              uppers: { values: [0.000007], counts: [1] },
            },
          ],
        ]),
      },
      forecaster: { population: 0, pools: new Map() },
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

test('docs/spark.md has the columns of these stages in their order', async () => {
  const wrong = () => inputOf('x\n')
  const reads = documentedColumns('reads')
  expect(await columnsRead(textOf(sweepLines(METHODOLOGY, wrong())))).toEqual(reads.get('sweep'))
  expect(await columnsRead(textOf(scoreLines(METHODOLOGY, wrong())))).toEqual(reads.get('score'))
  expect(await columnsRead(partLines(wrong()))).toEqual(reads.get('parts'))
  expect(await columnsRead(tally(wrong()))).toEqual(reads.get('tally'))
  const [pair] = (await sweep(linesOf(EVENTS))).split('\n')
  expect(pair!.split('\t')).toHaveLength(documentedColumns('prints').get('sweep')!.length)
})
