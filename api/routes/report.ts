// Why each question of an agent counts or does not, and what its next title takes.
import { z } from 'zod'
import { canonical } from '../../pipeline/proof/canonical.ts'
import type { Methodology } from '../../pipeline/scoring/methodology.ts'
import { outlookOf } from '../../pipeline/scoring/outlook.ts'
import type { TitleGrounds } from '../../pipeline/scoring/title.ts'
import { type AgentReport, agentReport, reportedReason } from '../../schemas/worked-out.ts'
import { reportQuery } from '../../schemas/requests.ts'
import { uuid } from '../../schemas/values.ts'
import type { ApiContext } from '../http/context.ts'
import type { Release } from '../published/release-payloads.ts'
import { notPublished } from '../http/not-published.ts'
import { type Route, route } from '../http/route.ts'
import { callsOfPage, callsOfShown } from '../limits/page-calls.ts'
import * as examples from '../openapi/examples.ts'
import { reportPage } from '../pages/profile/questions.ts'
import { cursorTo, pageStart } from '../published/cursor.ts'
import type { ReportRow } from '../published/reports.ts'
import { ENTITIES } from './entities.ts'
import { pageRoute } from './page-route.ts'
import type { Asker } from '../turns.ts'

const MOST_EXTREME = 3
const REASONS = reportedReason.options

interface ReportRequest {
  agentId: string
  limit: number
  cursor?: string | undefined
}

async function reportOf(
  context: ApiContext,
  release: Release,
  methodology: Methodology,
  { agentId, limit, cursor }: ReportRequest,
  asker: Asker,
): Promise<AgentReport> {
  const { questions, files, reports } = context
  const verification = await release.find('agent', agentId, 'verification', asker)
  if (!verification) throw await notPublished(context, release, 'agent', agentId)
  const { manifest, from = 0 } = await pageStart(files, release.manifest!, cursor)
  const rows = await reports.rowsOf(manifest, agentId, asker)
  const counted = rows.filter(({ gain }) => gain !== null).toSorted((a, b) => b.gain! - a.gain!)
  const titled = async (some: readonly ReportRow[]) => {
    const found = await questions.findAll(some.map(({ question_id }) => question_id))
    return some.map((row, index) => {
      const { title = null, closesAtMs } = found[index] ?? {}
      const until = closesAtMs === undefined ? '' : `, ${new Date(closesAtMs).toISOString()}`
      return { ...row, title, detail: row.reason === 'not-settled' ? `${row.detail}${until}` : row.detail }
    })
  }
  const { as_of, environment, methodology_version } = manifest
  return {
    agent_id: agentId,
    release: manifest.release,
    as_of,
    environment,
    methodology_version,
    counted: counted.length,
    not_counted: REASONS.flatMap((reason) => {
      const count = rows.filter((row) => row.reason === reason).length
      return count === 0 ? [] : [{ reason, questions: count }]
    }),
    next_title: outlookOf(methodology, verification.payload as TitleGrounds & { clusters: number }),
    best: await titled(counted.slice(0, MOST_EXTREME)),
    worst: await titled(counted.slice(-MOST_EXTREME).toReversed()),
    questions: await titled(rows.slice(from, from + limit)),
    next_cursor: cursorTo(manifest, from + limit < rows.length ? from + limit : undefined),
  }
}

/** The call, and the page that shows the same. */
export function reportRoutes(methodology: Methodology): Route[] {
  const call = route({
    path: '/agents/{agent_id}/report',
    operationId: 'getAgentReport',
    tag: 'Records',
    summary: 'Why each question of an agent counts or does not, and what its next title takes',
    description:
      'Every question with a known outcome of which the agent said something: its coverage and what it gained, or the reason why it ' +
      'counts for nothing. The next title is estimated from the record so far: nobody knows what is to come. A report that this ' +
      'node does not have in memory counts as several calls.',
    follows: true,
    needsStore: true,
    needsQuestions: true,
    params: z.strictObject({ agent_id: uuid }),
    query: reportQuery,
    countsAs: callsOfPage,
    examples: { params: { agent_id: examples.AGENT_ID }, query: { limit: 10 } },
    success: {
      description: 'As in the current release',
      body: agentReport,
      cache: 'public, max-age=60',
      example: examples.agentReport,
    },
    problems: {
      404: ENTITIES.agent.missing,
      422: examples.invalid('query', 'limit', 'must be at most 1000'),
    },
    handle: async ({ params, query, asker }, context, release) => {
      const wantedRows = { agentId: params.agent_id, ...query }
      return { body: canonical(await reportOf(context, release, methodology, wantedRows, asker)) }
    },
  })
  const page = pageRoute({
    path: '/view/agents/{agent_id}/report',
    operationId: 'showAgentReport',
    summary: 'Why each question of an agent counts or does not',
    params: z.strictObject({ agent_id: uuid }),
    needsQuestions: true,
    render: async ({ params, asker }, context, release) => {
      const wantedRows = { agentId: params.agent_id, limit: Number.MAX_SAFE_INTEGER }
      const report = await reportOf(context, release, methodology, wantedRows, asker)
      await asker.countMore(callsOfShown(report.questions.length))
      return reportPage(context.site, report)
    },
  })
  return [call, page]
}
