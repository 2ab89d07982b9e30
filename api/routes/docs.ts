// The OpenAPI document, and a page that shows it with a viewer served from here.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { z } from 'zod'
import type { Site } from '../pages/site.ts'
import { type Reply, type Route, route } from '../http/route.ts'

const require = createRequire(import.meta.url)

/** Swagger UI styles its elements by attributes; everything else comes from its files. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Every address is relative, so that the page works wherever the service is mounted. */
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Forecast verification service: API</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/viewer.css">
  </head>
  <body>
    <noscript>This page needs JavaScript. Its content is also in <a href="openapi.json">openapi.json</a>.</noscript>
    <div id="viewer"></div>
    <script src="docs/viewer.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`

/**
 * Calls tried from the page go to the environment in which it was opened. The page uses no validator, because
 * that would call another service.
 */
const START = `const ui = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#viewer',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  defaultModelRendering: 'example',
  displayRequestDuration: true,
  docExpansion: 'list',
  validatorUrl: null,
  onComplete: () => {
    ui.getSystem().oas3Actions.setSelectedServer(location.pathname.replace(/\\/docs$/, '') || '/')
  },
})
`

type Words = Pick<Route, 'path' | 'operationId' | 'summary' | 'description' | 'countsAs'>

/** Returns a route that answers the same bytes each time. They are made or read at the first request. */
function file(
  words: Words,
  success: Route['success'],
  read: (site: Site) => string | Promise<string | Uint8Array>,
  headers: Record<string, string> = {},
): Route {
  let reply: Promise<Reply> | undefined
  const make = async (site: Site): Promise<Reply> => ({ body: Buffer.from(await read(site)), headers })
  return route({
    ...words,
    isDocumented: false,
    compressed: 'best',
    tag: 'Service',
    success,
    handle: (_request, { site }) => {
      reply ??= make(site).catch((error: unknown) => {
        reply = undefined
        throw error
      })
      return reply
    },
  })
}

const MINUTE = 'public, max-age=60'
const FILE = { description: 'The file', body: z.string(), cache: 'public, max-age=86400' }

/** The page and its files. No part of a request names a file. */
const PAGE_FILES = [
  file(
    {
      path: '/docs',
      operationId: 'getDocumentPage',
      summary: 'This document as a page',
      description: 'This document as a page. It loads nothing from other sites.',
    },
    {
      description: 'A page',
      body: z.string(),
      mediaType: 'text/html',
      cache: MINUTE,
      example: '<!doctype html>\n<html lang="en">…</html>\n',
    },
    () => PAGE,
    { 'Content-Security-Policy': PAGE_POLICY },
  ),
  file(
    {
      path: '/docs/viewer.js',
      operationId: 'getViewer',
      summary: 'The viewer of the page',
      description: 'Swagger UI, the program of the page.',
      // It has 1.5 MB, and a node needs 12 ms to send them.
      countsAs: () => 4,
    },
    { ...FILE, mediaType: 'text/javascript', example: 'globalThis.SwaggerUIBundle = () => {}\n' },
    () => readFile(require.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
  ),
  file(
    {
      path: '/docs/viewer.css',
      operationId: 'getViewerStyle',
      summary: 'The style of the viewer',
      description: 'The style sheet of Swagger UI.',
    },
    { ...FILE, mediaType: 'text/css', example: '.swagger-ui { color: #3b4151 }\n' },
    () => readFile(require.resolve('swagger-ui-dist/swagger-ui.css')),
  ),
  file(
    {
      path: '/docs/start.js',
      operationId: 'getViewerStart',
      summary: 'The start of the viewer',
      description: 'Shows this document in the page.',
    },
    { ...FILE, mediaType: 'text/javascript', example: 'SwaggerUIBundle({})\n' },
    () => START,
  ),
]

/** Returns the routes that describe `routes` and themselves. */
export function documentation(routes: readonly Route[], version: string): Route[] {
  const own: Route[] = [
    file(
      {
        path: '/openapi.json',
        operationId: 'getDocument',
        summary: 'This document',
        description: 'This document, made from the schemas that validate requests and describe answers.',
      },
      {
        description: 'An OpenAPI 3.1 document',
        body: z.looseObject({
          openapi: z.literal('3.1.0'),
          info: z.looseObject({}),
          paths: z.looseObject({}),
        }),
        cache: MINUTE,
        example: {
          openapi: '3.1.0',
          info: { title: 'Forecast verification service', version: '1.0.0' },
          paths: {},
        },
      },
      async ({ about }) => {
        const { openApiDocument } = await import('../openapi/document.ts')
        return JSON.stringify(openApiDocument([...routes, ...own], version, about))
      },
    ),
    ...PAGE_FILES,
  ]
  return own
}
