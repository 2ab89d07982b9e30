// The method: its version and its text.
import { z } from 'zod'
import type { Methodology } from '../../pipeline/scoring/methodology.ts'
import { methodologyVersion as versionPayload } from '../../schemas/payloads.ts'
import * as examples from '../openapi/examples.ts'
import { PLAIN_GET, type Route, route } from '../route.ts'

const MINUTE = { 'Cache-Control': 'public, max-age=60' }

export function methodologyVersion({ version, effectiveFrom, parameters }: Methodology): Route {
  return route({
    ...PLAIN_GET,
    path: '/methodology/version',
    operationId: 'getMethodologyVersion',
    tag: 'Method',
    summary: 'The version of the method and its parameters',
    description: 'Which version of the method is in force, since when, and with which parameters.',
    success: {
      status: 200,
      description: 'The version in force',
      body: versionPayload,
      example: examples.methodologyVersion,
    },
    handle: () =>
      Promise.resolve({
        status: 200,
        body: {
          version,
          effective_from: effectiveFrom,
          document_url: '/methodology',
          parameters,
        },
        headers: MINUTE,
      }),
  })
}

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
