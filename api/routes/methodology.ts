// The method: its version and its text.
import { z } from 'zod'
import type { Methodology } from '../../pipeline/scoring/methodology.ts'
import { methodologyVersion as versionPayload } from '../../schemas/answers.ts'
import * as examples from '../openapi/examples.ts'
import { type Route, route } from '../http/route.ts'

const MINUTE = 'public, max-age=60'

export function methodologyVersion({ version, effectiveFrom, parameters }: Methodology): Route {
  return route({
    path: '/methodology/version',
    operationId: 'getMethodologyVersion',
    tag: 'Method',
    summary: 'The version of the method and its parameters',
    description: 'Which version of the method is in force, since when, and with which parameters.',
    success: {
      description: 'The version in force',
      body: versionPayload,
      cache: MINUTE,
      example: examples.methodologyVersion,
    },
    handle: () => ({
      body: { version, effective_from: effectiveFrom, document_url: '/methodology', parameters },
    }),
  })
}

/** Returns the route of the text at `document_url`. */
export function methodologyDocument(text: Uint8Array): Route {
  return route({
    path: '/methodology',
    operationId: 'getMethodology',
    tag: 'Method',
    summary: 'The method in full, in Markdown',
    description: 'Everything needed to derive the scores again, with worked examples.',
    success: {
      description: 'The text, in Markdown',
      body: z.string(),
      cache: MINUTE,
      mediaType: 'text/markdown',
      example: '# Methodology\n\nHow forecasts are scored, completely.\n',
    },
    handle: () => ({ body: text }),
  })
}
