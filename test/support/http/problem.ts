// What every error answer has in common.
import { expect } from 'vitest'
import { PROBLEM_NAMES, PROBLEM_TYPES, problemAddress } from '../../../schemas/problems.ts'
import { expectValid } from '../json-schema.ts'
import type { Answer } from './service.ts'

export function expectProblem(answer: Answer, status: number, detail: RegExp): void {
  expect(answer.status, answer.text).toBe(status)
  expect(answer.headers['content-type']).toBe('application/problem+json')
  expect(answer.headers['cache-control']).toBe('no-store')
  const problem = answer.json<{ detail: string; status: number; type: string }>()
  expectValid('problem', problem)
  expect(problem.status).toBe(status)
  const type = PROBLEM_NAMES.find((name) => problemAddress(name) === problem.type)
  expect(type === undefined ? 429 : PROBLEM_TYPES[type].status, problem.type).toBe(status)
  expect(problem.detail).toMatch(detail)
  expect(answer.text).not.toMatch(/node_modules|\.ts:\d|\bat [\w.]+ \(/)
}

/** The pointers of a 422, in the order of the answer. */
export function pointersOf(answer: Answer): string[] {
  expectProblem(answer, 422, /./)
  return answer.json<{ errors: { pointer: string }[] }>().errors.map(({ pointer }) => pointer)
}
