// The page of an event.
import { onEvent } from '../../schemas/requests.ts'
import { eventPage } from '../pages/event.ts'
import { pageRoute } from './page-route.ts'

export const eventPageRoute = pageRoute({
  path: '/view/events/{event_id}',
  operationId: 'showEvent',
  summary: 'An event with its questions',
  needsQuestions: true,
  params: onEvent,
  render: async ({ params: { event_id }, site }, { questions, now }) =>
    eventPage(site, await questions.shownEvent(event_id, now())),
})
