// A page for each type of problem: what happened, and what to do.
import { z } from 'zod'
import {
  PROBLEM_NAMES,
  PROBLEM_TYPES,
  type ProblemType,
  QUOTA_EXCEEDED,
  QUOTA_TYPE,
  problemAddress,
} from '../../schemas/problems.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { route } from '../http/route.ts'

/** Each type by the last part of its address. */
const TYPES: ReadonlyMap<string, ProblemType & { address: string }> = new Map(
  Object.entries({
    ...Object.fromEntries(
      PROBLEM_NAMES.map((name) => [name, { ...PROBLEM_TYPES[name], address: problemAddress(name) }]),
    ),
    'quota-exceeded': { ...QUOTA_TYPE, address: QUOTA_EXCEEDED },
  }),
)

const FILE = { mediaType: 'text/markdown', cache: 'public, max-age=86400', body: z.string() }

export const problemTypes = route({
  path: '/problems',
  operationId: 'listProblemTypes',
  tag: 'Service',
  summary: 'All types of problems, in Markdown',
  description: 'The addresses that the `type` of a problem can be, with what each means.',
  success: { ...FILE, description: 'A list in Markdown', example: pageOf('question-closed') },
  handle: () => ({ body: new TextEncoder().encode(LIST) }),
})

export const problemType = route({
  path: '/problems/{type}',
  operationId: 'getProblemType',
  tag: 'Service',
  summary: 'What a type of problem means, in Markdown',
  description: 'What happened when an error has this `type`, and what the caller can do.',
  params: z.strictObject({ type: z.string().describe('The last part of the address') }),
  examples: { params: { type: 'question-closed' } },
  success: { ...FILE, description: 'A text in Markdown', example: pageOf('question-closed') },
  problems: { 404: { type: 'not-found', detail: noSuchType('nothing') } },
  handle: ({ params }) => {
    if (!TYPES.has(params.type)) throw new ServiceError('notFound', noSuchType(params.type))
    return { body: new TextEncoder().encode(pageOf(params.type)) }
  },
})

function pageOf(name: string): string {
  const { address, status, title, happened, remedy } = TYPES.get(name)!
  return `# ${title}\n\n\`${address}\`, HTTP status ${status}\n\n${happened}\n\n**What to do.** ${remedy}\n`
}

function noSuchType(name: string): string {
  return `there is no type of problems ${JSON.stringify(name.slice(0, 100))}; GET /problems lists all`
}

const LIST = `# Types of problems\n\n${[...TYPES.values()]
  .map(({ address, status, happened }) => `- \`${address}\`, ${status}: ${happened}\n`)
  .join('')}`
