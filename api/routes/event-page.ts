// The page of an event.
import { z } from 'zod'
import { NAME_CHARACTERS } from '../../schemas/names.ts'
import { eventPage } from '../pages/event.ts'
import { pageRoute } from './page-route.ts'

export const eventPageRoute = pageRoute({
  path: '/view/events/{event_id}',
  operationId: 'showEvent',
  summary: 'An event with its questions',
  needsQuestions: true,
  params: z.strictObject({ event_id: z.string().min(1).max(NAME_CHARACTERS) }),
  render: async ({ params: { event_id }, site }, { questions, now }) =>
    eventPage(site, await questions.shownEvent(event_id, now())),
})
