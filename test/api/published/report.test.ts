// Why each question of an agent counts or does not, as JSON and as a page.
import { expect, test } from 'vitest'
import { runRelease } from '../../../jobs/release/release.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { AgentReport } from '../../../schemas/worked-out.ts'
import { expectValid } from '../../support/json-schema.ts'
import { expectProblem } from '../../support/http/problem.ts'
import { Clock, importRows, registerAgent, testComponents, testService } from '../../support/http/service.ts'
import { submitForecasts } from '../../support/worlds/submitted-forecasts.ts'
import { NOW, copyReleasedWorld, uuidOf } from '../../support/worlds/world.ts'

const [ALONE, LATE, AFTER, GONE, ANNULLED, EARLY] = [0, 1, 2, 3, 4, 5].map((n) => uuidOf(1, 4000 + n)) as [
  string,
  string,
  string,
  string,
  string,
  string,
]

test(
  'a report has every question with its reason, and the page shows the same',
  { tags: ['slow'] },
  async () => {
    const components = await testComponents({ store: new MemoryStore(), clock: new Clock(NOW) })
    const { agentId } = await copyReleasedWorld(components.store)
    const closes = (id: string) => (id === EARLY ? '2026-12-01T00:00:00Z' : '2026-02-01T00:00:00Z')
    const lines = [ALONE, LATE, AFTER, GONE, ANNULLED, EARLY].map(
      (id, number) => `${id},Told <b>${number}</b>,2026-01-01T00:00:00Z,${closes(id)}\n`,
    )
    await importRows(components, 'questions', `question_id,title,opened_at,closes_at\n${lines.join('')}`)
    const outcomes = [ALONE, LATE, AFTER, GONE, EARLY].map((id) => `${id},yes,2026-02-02T00:00:00Z\n`)
    await importRows(
      components,
      'resolutions',
      `question_id,outcome,resolved_at\n${outcomes.join('')}${ANNULLED},annulled,2026-02-02T00:00:00Z\n`,
    )
    const said = (id: string, probability: number | '', time: string) =>
      `agent,${agentId},${id},${probability},${time}T00:00:00.000Z`
    await submitForecasts(components.store, [
      said(ALONE, 0.9, '2026-01-02'),
      said(LATE, 0.9, '2026-01-30'),
      said(AFTER, 0.9, '2026-02-03'),
      // Withdrawn before it could stand at any time.
      said(GONE, 0.9, '2025-12-30'),
      said(GONE, '', '2025-12-31'),
      said(ANNULLED, 0.9, '2026-01-02'),
      said(EARLY, 0.9, '2026-01-02'),
    ])
    // Five people, so that only the time of the agent's own forecast is missing there.
    const people = [0, 1, 2, 3, 4].map((n) => `forecaster,${uuidOf(2, n)},${LATE},0.5,2026-01-02T00:00:00Z\n`)
    await importRows(
      components,
      'forecasts',
      `entity_type,entity_id,question_id,probability,forecast_at\n${people.join('')}`,
    )
    expect((await runRelease(components, {})).ok).toBe(true)
    const { client } = await testService(components)
    const asked = async (query = '') => {
      const answer = await client.get(`/agents/${agentId}/report${query}`)
      expect(answer.status, answer.text).toBe(200)
      expectValid('agent-report', answer.json())
      return answer.json<AgentReport>()
    }
    const report = await asked('?limit=1000')
    const reasons = new Map(
      report.questions.map(({ question_id, reason, detail }) => [question_id, [reason, detail]]),
    )
    expect(reasons.get(ALONE)).toEqual([
      'unmeasured',
      'in the first 75 % of its life no forecast stood beside 5 others, nor a market’s price',
    ])
    expect(reasons.get(LATE)).toEqual(reasons.get(ALONE))
    expect(reasons.get(AFTER)![0]).toBe('late')
    expect(reasons.get(GONE)![0]).toBe('withdrawn')
    expect(reasons.get(ANNULLED)![0]).toBe('annulled')
    expect(reasons.get(EARLY)).toEqual([
      'not-settled',
      expect.stringMatching(/from its scheduled close on, 2026-12-01/),
    ])
    expect(report).toMatchObject({ release: 2, counted: 52, next_title: { title: 'certified' } })
    expect(report.not_counted).toEqual([
      { reason: 'not-settled', questions: 1 },
      { reason: 'unmeasured', questions: 2 },
      { reason: 'withdrawn', questions: 1 },
      { reason: 'late', questions: 1 },
      { reason: 'annulled', questions: 1 },
    ])
    const gains = report.questions
      .flatMap(({ gain }) => (gain === null ? [] : [gain]))
      .toSorted((a, b) => b - a)
    expect(gains).toHaveLength(52)
    expect(report.best.map(({ gain }) => gain)).toEqual(gains.slice(0, 3))
    expect(report.worst.map(({ gain }) => gain)).toEqual(gains.slice(-3).toReversed())

    const paged: unknown[] = []
    for (let query = '?limit=7'; query !== '';) {
      const page = await asked(query)
      paged.push(...page.questions)
      query = page.next_cursor === null ? '' : `?limit=7&cursor=${page.next_cursor}`
    }
    expect(paged).toEqual(report.questions)

    const text = (await client.get(`/view/agents/${agentId}/report`)).text
    expect(text).toContain(
      '52 questions count; others do not: 1 not closed yet, 2 never beside enough others in time',
    )
    expect(text).toContain('Told &lt;b&gt;0&lt;/b&gt;')
    expect(text).toContain('every forecast came after it had closed or its outcome was known')
    const { agentId: fresh } = await registerAgent(client)
    expectProblem(await client.get(`/agents/${fresh}/report`), 404, /no release has covered it yet/)
  },
)
