// UUIDs as requests may write them: taken exactly where the pattern of the published schema matches, and in
// lower case.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { uuid } from '../../schemas/values.ts'

const pattern = new RegExp(z.toJSONSchema(uuid).pattern!)
const ID = '01a2-345b'.padEnd(36, '0')
const LOWER = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0'

/** UUIDs in any case, with some of their characters replaced, left out or doubled. */
const nearly = fc
  .tuple(
    fc.uuid(),
    fc.boolean(),
    fc.nat(36),
    fc.constantFrom('', '-', 'g', 'F', '0', '00', '\u0130', '💩', '\n'),
  )
  .map(([id, isUpper, at, other]) => {
    const text = isUpper ? id.toUpperCase() : id
    return text.slice(0, at) + other + text.slice(at + 1)
  })

describe('a UUID', () => {
  test('is parsed to lower case', () => {
    expect(uuid.parse(LOWER.toUpperCase())).toBe(LOWER)
    expect(uuid.parse(LOWER)).toBe(LOWER)
  })

  test.for([
    ['without hyphens', LOWER.replaceAll('-', '')],
    ['with hyphens elsewhere', ID],
    ['in braces', `{${LOWER}}`],
    ['with a line after it', `${LOWER}\n`],
    ['cut short', LOWER.slice(1)],
    ['with a letter that is no digit', LOWER.replace('f', 'g')],
    ['with a digit of another script', LOWER.replace('0', '\u0660')],
    ['that is empty', ''],
    ['that is a number', 7],
  ] as const)('%s is refused', ([, text]) => {
    const { error } = uuid.safeParse(text)
    expect(error?.issues.map(({ message }) => message)).toStrictEqual(['must be a UUID'])
  })

  test('is any text that the published pattern matches, and no other', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uuid(), nearly), (text) => {
        const { data } = uuid.safeParse(text)
        expect(data).toBe(pattern.test(text) ? text.toLowerCase() : undefined)
      }),
    )
  })
})
