import { describe, expect, test } from 'vitest'
import { schemaTexts } from '../../schemas/json-schemas.ts'
import { registration } from '../../schemas/requests.ts'
import { faultsOf } from '../support/json-schema.ts'

describe('every JSON Schema', () => {
  const texts = [...schemaTexts()]

  test.for(texts)('%s is one that ajv accepts in strict mode', ([name]) => {
    expect(faultsOf(name, undefined)).not.toEqual([])
  })

  test('is the same text each time', () => {
    expect([...schemaTexts()]).toEqual(texts)
  })
})

describe('the JSON Schema of a request allows exactly what the service accepts', () => {
  test('a UUID in any case', () => {
    const question_id = '3F0E7A52-0000-4000-8000-ABCDEFabcdef'
    expect(faultsOf('forecast-submission', { question_id, probability: 1 })).toEqual([])
    expect(faultsOf('bulk-verification', { entity_type: 'agent', ids: [question_id] })).toEqual([])
  })

  // A character outside the basic plane is one character but two UTF-16 units.
  test.for([
    ['200 letters', 'a'.repeat(200), true],
    ['201 letters', 'a'.repeat(201), false],
    ['200 letters beyond the basic plane', '𐐷'.repeat(200), true],
    ['201 letters beyond the basic plane', '𐐷'.repeat(201), false],
    ['nothing', '', false],
    ['white space of many kinds', ' \u00a0\u2003\u3000\ufeff', false],
    ['a letter among white space', ' \u3000a ', true],
    ['a line break', 'a\nb', false],
    ['a control character', 'a\u007f', false],
    ['an override of direction', 'a\u202e', false],
  ] as const)('a name of 1 to 200 characters: %s', ([, name, allowed]) => {
    expect(faultsOf('registration', { name, model_type: 'm' }).length === 0).toBe(allowed)
    expect(registration.safeParse({ name, model_type: 'm' }).success).toBe(allowed)
  })
})

describe('ajv finds', () => {
  test.for([
    ['an unknown field', { type: '/problems/failed', title: 'b', status: 404, detail: 'c', stack: 'd' }],
    ['a missing field', { type: '/problems/failed', title: 'b', status: 404 }],
    ['a wrong type', { type: '/problems/failed', title: 'b', status: '404', detail: 'c' }],
  ] as const)('%s', ([, value]) => {
    expect(faultsOf('problem', value)).toHaveLength(1)
  })
})
