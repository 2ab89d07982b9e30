// What the OpenAPI document says of the calls for what was published of an agent or a forecaster: four of each.
import * as examples from './examples.ts'
import type { HeaderName } from './headers.ts'
import { type CallText, UNKNOWN_KEY, noUuid } from './text.ts'

const { AGENT_ID, USER_ID } = examples
const PUBLISHED: readonly HeaderName[] = ['ETag', 'X-Service-Signature']

interface PublicationText {
  call: string
  id: string
  tag: CallText['tag']
  description: string
  agent: object
  forecaster: object
}

const PUBLICATIONS: PublicationText[] = [
  {
    call: 'verification',
    id: 'Verification',
    tag: 'Verification',
    description:
      'Whether the current release certifies it, how skilled it is and on how many questions. The signature is over ' +
      'the exact bytes of the body; the guide for verifiers shows how to check it. Calls with a key count toward ' +
      'the month of its account, calls without one toward the minute of their address.',
    agent: examples.agentVerification,
    forecaster: examples.forecasterVerification,
  },
  {
    call: 'metrics',
    id: 'Metrics',
    tag: 'Records',
    description: 'Every score of the current release and how well calibrated its forecasts are.',
    agent: examples.agentMetrics,
    forecaster: examples.forecasterMetrics,
  },
  {
    call: 'rankings',
    id: 'Rankings',
    tag: 'Records',
    description: 'Its rank by skill among the eligible ones of its kind.',
    agent: examples.agentRankings,
    forecaster: examples.forecasterRankings,
  },
  {
    call: 'advanced-metrics',
    id: 'AdvancedMetrics',
    tag: 'Records',
    description: 'How stable its skill is, how sure its forecasts are and how they follow the news.',
    agent: examples.agentAdvancedMetrics,
    forecaster: examples.forecasterAdvancedMetrics,
  },
]

function callsOf({ call, id, tag, description, agent, forecaster }: PublicationText): [string, CallText][] {
  const headers: readonly HeaderName[] = call === 'verification' ? [...PUBLISHED, 'Vary'] : PUBLISHED
  const shared = { tag, description, answer: 'As the current release has it', headers }
  return [
    [
      `GET /agents/{agent_id}/${call}`,
      {
        ...shared,
        id: `getAgent${id}`,
        parameters: { agent_id: AGENT_ID },
        success: agent,
        problems: {
          401: UNKNOWN_KEY,
          404: {
            detail:
              `the agent ${AGENT_ID} was registered at 2026-03-01T11:58:00.000Z and no release has covered it yet; ` +
              'the next release is due at 2026-03-01T12:15:00.000Z',
          },
          422: noUuid('agent_id'),
        },
      },
    ],
    [
      `GET /forecaster/{user_id}/${call}`,
      {
        ...shared,
        id: `getForecaster${id}`,
        parameters: { user_id: USER_ID },
        success: forecaster,
        problems: {
          401: UNKNOWN_KEY,
          404: { detail: `no release speaks of a forecaster ${USER_ID}` },
          422: noUuid('user_id'),
        },
      },
    ],
  ]
}

export const PUBLICATION_CALLS: Record<string, CallText> = Object.fromEntries(PUBLICATIONS.flatMap(callsOf))
