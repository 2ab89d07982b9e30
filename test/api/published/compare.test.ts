// Two entities side by side, as JSON and as a page.
import { describe, expect } from 'vitest'
import type { SideBySide } from '../../../schemas/worked-out.ts'
import { commonQuestions } from '../../../api/pages/compare/compared.ts'
import { expectValid } from '../../support/json-schema.ts'
import { expectProblem, pointersOf } from '../../support/http/problem.ts'
import { test as plain } from '../../support/http/fixtures.ts'
import { Clock, type TestService, importRows, release } from '../../support/http/service.ts'
import { uuidOf } from '../../support/worlds/world.ts'

const [ANNA, BO, CY, ANNABEL] = [uuidOf(2, 1), uuidOf(2, 2), uuidOf(2, 3), uuidOf(2, 4)] as const
const question = (number: number) => uuidOf(1, number)
const NOW = '2026-03-01T00:00:00.000Z'

let service: TestService

const test = plain.extend('clock', { scope: 'file' }, () => new Clock(NOW))
test.beforeAll(async ({ components, serve }) => {
  const lines = (header: string, rows: readonly (readonly (string | number)[])[]) =>
    `${header}\n${rows.map((row) => `${row.join(',')}\n`).join('')}`
  // Of ten days each. The last one has not closed, though its outcome is known.
  const questions = [1, 2, 3, 4].map((number) => [
    question(number),
    `Question <b>${number}</b>`,
    '2026-01-01T00:00:00Z',
    number === 4 ? '2026-04-01T00:00:00Z' : '2026-01-11T00:00:00Z',
    `event ${number}`,
  ])
  await importRows(
    components,
    'questions',
    lines('question_id,title,opened_at,closes_at,event_id', questions),
  )
  const outcomes = [1, 2, 3, 4].map((number) => [
    question(number),
    number === 2 ? 'no' : 'yes',
    '2026-01-11T00:00:00Z',
  ])
  await importRows(components, 'resolutions', lines('question_id,outcome,resolved_at', outcomes))
  const people = [ANNA, BO, CY, ANNABEL].map((id, index) => [id, ['Anna', 'Bo <i>', 'Cy', 'Annabel'][index]!])
  await importRows(components, 'forecasters', lines('user_id,display_name', people))
  const said = (who: string, number: number, probability: number | '', day: number) => [
    'forecaster',
    who,
    question(number),
    probability,
    `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`,
  ]
  await importRows(
    components,
    'forecasts',
    lines('entity_type,entity_id,question_id,probability,forecast_at', [
      // Shared from the 6th to the 11th, 0.1 against 0.4.
      said(ANNA, 1, 0.9, 1),
      said(BO, 1, 0.6, 6),
      // Shared all the time, with outcome no: 0.2 against 0.5, from the 6th on 0.2 against 0.1.
      said(ANNA, 2, 0.2, 1),
      said(BO, 2, 0.5, 1),
      said(BO, 2, 0.1, 6),
      // Never at the same time.
      said(ANNA, 3, 0.9, 1),
      said(ANNA, 3, '', 5),
      said(BO, 3, 0.9, 5),
      said(ANNA, 4, 0.9, 1),
      said(BO, 4, 0.1, 1),
      said(CY, 3, 0.5, 6),
    ]),
  )
  await release(components)
  service = await serve(components)
})

const compared = async (a: string, b: string): Promise<SideBySide> => {
  const answer = await service.client.get(`/compare?a=${a}&b=${b}`)
  expect(answer.status, answer.text).toBe(200)
  expectValid('side-by-side', answer.json())
  return answer.json<SideBySide>()
}

describe('GET /compare', () => {
  test('weighs the settled questions by the time that both stood', async () => {
    const { a, b, interval, most_different: rows, ...rest } = await compared(ANNA, BO)
    // Shared: 0.5 of the first and all of the second.
    const [anna, bo] = [(0.01 * 0.5 + 0.04) / 1.5, (0.16 * 0.5 + 0.25 * 0.5 + 0.01 * 0.5) / 1.5]
    expect(a).toEqual({ entity_type: 'forecaster', id: ANNA, name: null, brier: Number(anna.toFixed(6)) })
    expect(b).toMatchObject({ name: null, brier: Number(bo.toFixed(6)) })
    expect(rest).toMatchObject({ release: 1, questions: 2, clusters: 2 })
    expect(rest.brier_difference).toBeCloseTo(anna - bo, 6)
    expect(interval!.lower).toBeLessThan(anna - bo)
    expect(rows).toEqual([
      {
        question_id: question(2),
        title: 'Question <b>2</b>',
        outcome: 'no',
        coverage: 1,
        a_brier: 0.04,
        b_brier: 0.13,
      },
      {
        question_id: question(1),
        title: 'Question <b>1</b>',
        outcome: 'yes',
        coverage: 0.5,
        a_brier: 0.01,
        b_brier: 0.16,
      },
    ])
  })

  test('turned around has the other sign, and the same bytes when it is asked again', async () => {
    const [one, other] = [await compared(ANNA, BO), await compared(BO, ANNA)]
    expect(other.brier_difference).toBe(-one.brier_difference!)
    expect(await compared(ANNA, BO)).toEqual(one)
  })

  test('has no number for two that never stood together', async () => {
    expect(await compared(ANNA, CY)).toMatchObject({
      questions: 0,
      clusters: 0,
      brier_difference: null,
      interval: null,
      a: { brier: null },
      most_different: [],
    })
  })

  test('refuses one with itself, and one that nobody knows', async () => {
    const asked = (query: string) => service.client.get(`/compare?${query}`)
    expect(pointersOf(await asked(`a=${ANNA}&b=${ANNA.toUpperCase()}`))).toEqual(['/b'])
    expect(pointersOf(await asked(`a=${ANNA}`))).toEqual(['/b'])
    expectProblem(await asked(`a=${ANNA}&b=${uuidOf(2, 99)}`), 404, /no agent and no forecaster/)
  })
})

describe('the page', () => {
  const ask = (query: string) => service.client.get(`/view/compare${query}`)
  const page = async (query: string) => {
    const { status, text } = await ask(query)
    expect(status, query).toBe(200)
    return text
  }

  test('asks for two, and keeps the one that it has', async () => {
    expect(await page('')).toMatch(/name="a".*name="b"/s)
    const text = await page(`?a=${ANNA}&b=`)
    expect(text).toContain(`<input type="hidden" name="a" value="${ANNA}">`)
    expect(text).toContain('name="b" value=""')
  })

  test('says who was closer and by how much, or that nobody can tell', async () => {
    const text = await page(`?a=${ANNA}&b=${BO}`)
    expect(text).toContain('Too close to call: on the 2 questions that both answered')
    expect(text).toContain('<dd>2 : 0<small>questions, <bdi>Anna</bdi> : <bdi>Bo &lt;i&gt;</bdi>')
    expect(text).toContain('Where <bdi>Anna</bdi> was closer by most')
    expect(text).not.toContain('Where <bdi>Bo')
    expect(text).not.toContain('<b>2</b>')
    expect(await page(`?a=${ANNA}&b=${CY}`)).toContain(
      'No question was answered by both at the same time, so nothing says who is better.',
    )
  })

  test.for([
    `a=anna&b=${BO}`,
    'a=ANNA&b=bo',
    `a=https://example.org/view/forecasters/${ANNA}&b=/forecaster/${BO}/scores`,
    `b=${ANNA}&d=${BO}`,
    `a=${ANNA}&b=${ANNA.toUpperCase()}&c=bo`,
  ])('?%s leads to the address with the ids', async (query) => {
    const { status, headers } = await ask(`?${query}`)
    expect([status, headers['location']]).toEqual([303, `/view/compare?a=${ANNA}&b=${BO}`])
  })

  test('offers the choice where a name may be of more than one, and says where nobody has it', async () => {
    const text = await page(`?a=${BO}&b=ann`)
    expect(text).toContain('Whom do you mean by “<bdi>ann</bdi>”?')
    for (const id of [ANNA, ANNABEL]) expect(text).toContain(`href="/view/compare?a=${BO}&amp;b=${id}"`)
    expect(await page(`?a=${BO}&b=%3Cb%3Ezed`)).toContain('Nobody here is called “<bdi>&lt;b&gt;zed</bdi>”')
    expect(await page(`?a=${uuidOf(2, 99)}`)).toContain('Nobody here is called')
    expect(await page(`?a=/sandbox/view/forecasters/${ANNA}`)).toContain('Nobody here is called')
  })

  test('of several has each two in a row, and the questions that all share', async () => {
    const three = await page(`?a=${ANNA}&b=${BO}&c=${CY}`)
    const rows = Array.from(three.matchAll(/<tr><th scope="row" class="name">.*<\/tr>/g), ([row]) => row)
    expect(rows).toHaveLength(3)
    expect(rows[0]).toContain('too close to call')
    expect(rows[1]).toContain('no question shared')
    expect(three).toContain('No question was answered by all 3 at the same time.')
    const four = await page(`?a=${ANNA}&b=${BO}&c=${CY}&d=${ANNABEL}`)
    expect(four.match(/<tr><th scope="row" class="name">/g)).toHaveLength(6)
    expect(four).not.toContain('name="e"')
  })

  test('counts each pair that is not in memory as several calls', async () => {
    const left = async (query: string) =>
      Number(/r=(\d+)/.exec(String((await ask(query)).headers['ratelimit']))![1])
    const before = await left('')
    expect(await left(`?a=${CY}&b=${BO}&c=${ANNA}`)).toBe(before - 1 - 40)
    expect(await left(`?a=${CY}&b=${BO}&c=${ANNA}`)).toBe(before - 2 - 40)
  })

  test('refuses a fifth, and what is longer than any address', async () => {
    expect((await ask(`?a=${ANNA}&e=${BO}`)).status).toBe(422)
    expect((await ask(`?a=${'x'.repeat(2001)}`)).status).toBe(422)
  })
})

describe('questions that all share', () => {
  const shared = (questionId: string, ...errors: [number, number]) => ({
    questionId,
    outcome: 1 as const,
    coverage: 1e9,
    errors,
  })
  const pair = (sides: [number, number], questions: ReturnType<typeof shared>[]) => ({
    sides,
    questions: questions.length,
    clusters: 1,
    brier: null,
    difference: null,
    interval: null,
    shared: questions,
  })
  const sides = ['A', 'B', 'C'].map((name) => ({
    entityType: 'agent' as const,
    id: name,
    name,
    path: '/',
    curve: [],
  }))

  test('are those of each pair, and the closest is closer than every other one', () => {
    const pairs = [
      pair([0, 1], [shared('q1', 1, 2), shared('q2', 1, 5), shared('q3', 1, 1), shared('q4', 1, 2)]),
      pair([0, 2], [shared('q1', 1, 3), shared('q2', 4, 2), shared('q3', 2, 1)]),
      pair([1, 2], [shared('q1', 2, 3), shared('q2', 1, 4), shared('q3', 3, 1), shared('q5', 1, 2)]),
    ]
    expect(commonQuestions({ sides, pairs })).toEqual([
      { questionId: 'q2', outcome: 1, closest: undefined, spread: 4 },
      { questionId: 'q1', outcome: 1, closest: 0, spread: 2 },
      { questionId: 'q3', outcome: 1, closest: 2, spread: 2 },
    ])
  })
})
