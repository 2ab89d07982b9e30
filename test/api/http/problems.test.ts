// What callers are told about an error, and what they are not.
import { describe, expect, test } from 'vitest'
import { HttpError, problemOf } from '../../../api/http/problems.ts'
import { type ErrorKind, ServiceError } from '../../../schemas/errors.ts'

const DETAILS = 'registry/keys/x on store.example does not answer'

describe('the message of an error', () => {
  test.for<[ErrorKind, number]>([
    ['invalid', 422],
    ['unauthorized', 401],
    ['forbidden', 403],
    ['notFound', 404],
    ['conflict', 409],
    ['limited', 429],
  ])('%s is meant for callers unless it says otherwise', ([kind, status]) => {
    expect(problemOf(new ServiceError(kind, DETAILS)).problem).toMatchObject({ status, detail: DETAILS })
    const hidden = problemOf(new ServiceError(kind, DETAILS, { expose: false })).problem
    expect(hidden).toMatchObject({ status, detail: 'the service failed; the failure was noted' })
  })

  test.for<[ErrorKind, number, string]>([
    ['unavailable', 503, 'the store does not answer; try again'],
    ['corrupt', 503, 'what the store holds for this call is damaged; the failure was noted, try again later'],
  ])('%s is not, unless it says so', ([kind, status, detail]) => {
    const faults = [{ pointer: 'line 1', detail: DETAILS }]
    expect(problemOf(new ServiceError(kind, DETAILS, { faults })).problem).toEqual({
      type: kind === 'corrupt' ? '/problems/damaged' : '/problems/unavailable',
      title: expect.any(String) as string,
      status,
      detail,
    })
    const told = problemOf(new ServiceError(kind, 'too much (of it) is waiting', { expose: true })).problem
    expect(told).toMatchObject({ status, detail: 'too much (of it) is waiting' })
  })

  test('of any other class is not, but for that of HTTP itself', () => {
    expect(problemOf(new Error(DETAILS)).problem).toMatchObject({
      status: 500,
      detail: 'the service failed; the failure was noted',
    })
    expect(problemOf(new HttpError('wrong-content-type', 'send JSON')).problem).toMatchObject({
      status: 415,
      detail: 'send JSON',
    })
  })
})
