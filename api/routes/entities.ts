// The differences between the calls about agents and about forecasters.
import { notReleasedYet } from '../http/not-published.ts'
import { AGENT_ID, USER_ID } from '../openapi/examples.ts'

export const ENTITIES = {
  agent: {
    path: '/agents/{agent_id}',
    words: 'an agent',
    idName: 'agent_id',
    example: AGENT_ID,
    missing: {
      type: 'not-released-yet',
      detail: notReleasedYet(AGENT_ID, '2026-03-01T11:58:00.000Z', '2026-03-01T12:15:00.000Z'),
    },
  },
  forecaster: {
    path: '/forecaster/{user_id}',
    words: 'a forecaster',
    idName: 'user_id',
    example: USER_ID,
    missing: { type: 'not-found', detail: `no release has a forecaster ${USER_ID}` },
  },
} as const
