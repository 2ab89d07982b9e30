// What every error answer has in common.
import { expect } from 'vitest'
import { PROBLEM_NAMES, PROBLEM_TYPES, type ProblemName, problemAddress } from '../../../schemas/problems.ts'
import { expectValid } from '../json-schema.ts'
import type { Answer } from './service.ts'

/** @param type the type of the problem, for the test that provokes it. */
export function expectProblem(answer: Answer, status: number, detail: RegExp, type?: ProblemName): void {
  expect(answer.status, answer.text).toBe(status)
  expect(answer.headers['content-type']).toBe('application/problem+json')
  expect(answer.headers['cache-control']).toBe('no-store')
  const problem = answer.json<{ detail: string; status: number; type: string }>()
  expectValid('problem', problem)
  expect(problem.status).toBe(status)
  const known = PROBLEM_NAMES.find((name) => problemAddress(name) === problem.type)
  expect(known === undefined ? 429 : PROBLEM_TYPES[known].status, problem.type).toBe(status)
  if (type !== undefined) expect(known).toBe(type)
  expect(problem.detail).toMatch(detail)
  expect(answer.text).not.toMatch(/node_modules|\.ts:\d|\bat [\w.]+ \(/)
}

/** The pointers of a 422, in the order of the answer. */
export function pointersOf(answer: Answer): string[] {
  expectProblem(answer, 422, /./)
  return answer.json<{ errors: { pointer: string }[] }>().errors.map(({ pointer }) => pointer)
}
