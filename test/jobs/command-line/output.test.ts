// What commands print of the text of others steers no terminal, as text and as JSON.
import { expect, onTestFinished, test, vi } from 'vitest'
import { escapedJson, printable } from '../../../pipeline/printable.ts'
import { labelled, print, reportError } from '../../../jobs/command-line/output.ts'
import { ServiceError } from '../../../schemas/errors.ts'

const HOSTILE = 'a\u001b[31m\u009bb\u202ec\u2066d\u200fe\u2028f\u{e0041}g\r\th'
const SEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/** The lines that a function writes. */
function written(write: () => void): string[] {
  const chunks: string[] = []
  const keep = (chunk: unknown) => chunks.push(String(chunk)) > 0
  for (const stream of [process.stdout, process.stderr]) {
    const spy = vi.spyOn(stream, 'write').mockImplementation(keep)
    onTestFinished(() => spy.mockRestore())
  }
  write()
  vi.restoreAllMocks()
  return chunks.join('').trimEnd().split('\n')
}

test('a report is printed without control and bidirectional characters', () => {
  const report = { ok: true, json: { text: HOSTILE }, text: `first\n${HOSTILE}`, aside: HOSTILE }
  const lines = written(() => print(report, false))
  expect(lines).toEqual(['first', printable(HOSTILE), printable(HOSTILE)])
  expect(lines.join('')).not.toMatch(SEEN)
})

test('its JSON has the same value, with escapes', () => {
  const [line] = written(() => print({ ok: true, json: { text: HOSTILE }, text: '' }, true))
  expect(line).not.toMatch(SEEN)
  expect(JSON.parse(line!)).toEqual({ text: HOSTILE })
})

test('so are failures, and lines of the log', () => {
  const lines = written(() => reportError(new ServiceError('invalid', HOSTILE), true))
  expect(lines.join('')).not.toMatch(SEEN)
  expect(escapedJson('{"a":"\u202e"}\n')).toBe('{"a":"\\u202e"}\n')
})

test('a fault that has the text of others is one line', () => {
  expect(labelled('fault', ['a\nnote: all is well'])).toEqual(['fault: a\\u{a}note: all is well'])
})
