// The method: its version and its text.
import { z } from 'zod'
import {
  METHODOLOGY_EFFECTIVE_FROM,
  METHODOLOGY_VERSION,
  PARAMETERS,
} from '../../pipeline/scoring/methodology.ts'
import { methodologyVersion } from '../../schemas/payloads.ts'
import * as examples from '../openapi/examples.ts'
import { PLAIN_GET, type Route, route } from '../route.ts'

const MINUTE = { 'Cache-Control': 'public, max-age=60' }

export const methodology = route({
  ...PLAIN_GET,
  path: '/methodology/version',
  operationId: 'getMethodologyVersion',
  tag: 'Method',
  summary: 'The version of the method and its parameters',
  description: 'Which version of the method is in force, since when, and with which parameters.',
  success: {
    status: 200,
    description: 'The version in force',
    body: methodologyVersion,
    example: examples.methodologyVersion,
  },
  handle: () =>
    Promise.resolve({
      status: 200,
      body: {
        version: METHODOLOGY_VERSION,
        effective_from: METHODOLOGY_EFFECTIVE_FROM,
        document_url: '/methodology',
        parameters: PARAMETERS,
      },
      headers: MINUTE,
    }),
})

/** The text at `document_url`. */
export function methodologyDocument(text: Uint8Array): Route {
  return route({
    ...PLAIN_GET,
    path: '/methodology',
    operationId: 'getMethodology',
    tag: 'Method',
    summary: 'The method in full, in Markdown',
    description: 'Everything needed to derive the scores again, with worked examples.',
    success: {
      status: 200,
      description: 'The text, in Markdown',
      body: z.string(),
      mediaType: 'text/markdown',
      example: '# Methodology\n\nHow forecasts are scored, completely.\n',
    },
    handle: () =>
      Promise.resolve({
        status: 200,
        body: text,
        headers: { ...MINUTE, 'Content-Type': 'text/markdown; charset=utf-8' },
      }),
  })
}
