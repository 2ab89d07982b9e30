// The page of an event: its questions in order, and in plain words what they have to do with each other.
import { expect, test } from 'vitest'
import { EVENT } from '../../../api/openapi/examples.ts'
import { eventPage } from '../../../api/pages/event.ts'
import type { Event } from '../../../schemas/answers.ts'
import { textOf } from '../../support/http/page-text.ts'

const site = { environment: 'production', publicUrl: undefined } as const
const event = EVENT as Event
const [question] = event.questions

test.for([
  ['exclusive', 'Exactly one of them ends with yes.'],
  ['at_most_one', 'At most one of them ends with yes.'],
  ['ordered', 'A yes to one of them implies a yes to every one above it in the list.'],
  ['independent', 'The answer to one of them implies nothing of the others.'],
] as const)('says of the kind %s: %s', ([kind, words]) => {
  expect(textOf(eventPage(site, { ...event, kind }))).toContain(words)
})

test('lists its questions as they are called within it, with what came of them', () => {
  const questions = [
    { ...question!, option: 'Lakers <b>', title: 'Will the Lakers win?', status: 'resolved', outcome: 'no' },
    { ...question!, option: null, title: 'Will the Celtics win?' },
  ] as Event['questions']
  const shown = { ...event, title: null, event_id: 'who/wins', questions, question_count: 1_001 }
  const page = eventPage(site, shown)
  const text = textOf(page)
  expect(text).toContain('who/wins')
  expect(text).toContain('1,001 questions about one event')
  expect(text).toContain('These are the 2 that close first.')
  expect(text).toMatch(/Lakers <b> ?Will the Lakers win\? resolved: no/)
  expect(text).toMatch(/Will the Celtics win\? open/)
  expect(page.text).toContain('href="/events/who%2Fwins"')
  expect(page.text).not.toContain('Lakers <b>')
})
