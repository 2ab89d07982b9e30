// The names of people, which are no part of any record: they may be changed, and taken back.
import { peopleNames } from '../../schemas/answers.ts'
import { MOST_NAMED, peopleQuery } from '../../schemas/requests.ts'
import * as examples from '../openapi/examples.ts'
import { route } from '../http/route.ts'

export const people = route({
  path: '/people',
  operationId: 'listPeople',
  tag: 'Records',
  summary: 'The names of people by their ids',
  description:
    'No record of a person has their name, because what is signed and logged can never be taken back. Here the names are as they stand ' +
    'now. They are not signed, and a name that was taken back is null within seconds. Do not keep them for longer than a page needs them.',
  follows: true,
  query: peopleQuery,
  examples: { query: { ids: examples.USER_ID } },
  success: {
    description: 'The names, as far as they are known',
    body: peopleNames,
    cache: 'public, max-age=60',
    example: examples.people,
  },
  problems: {
    422: examples.invalid('query', 'ids', `must be 1 to ${MOST_NAMED} UUIDs with commas between them`),
  },
  handle: ({ query: { ids } }, context) => ({
    body: {
      signed: false,
      people: ids.map((user_id) => ({ user_id, name: context.people.nameOf(user_id) })),
    },
  }),
})
