// The OpenAPI document, and a page that shows it with a viewer served from here.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { z } from 'zod'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { openApiDocument } from '../openapi/document.ts'
import { PLAIN_GET, type Reply, type Route, route } from '../route.ts'
import { SECURITY_HEADERS } from '../security-headers.ts'

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
 * Calls tried from the page go to the environment in which it was opened. There is no validator, because that would be
 * a call to another service.
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

const text = (content: string) => () => Promise.resolve(new TextEncoder().encode(content))

interface DocumentFile extends Pick<Route, 'path' | 'operationId' | 'summary' | 'description'> {
  answer: string
  mediaType: string
  example: string
  read: () => Promise<Uint8Array>
}

/** The page and its files. No part of a request is used as the name of a file. */
const FILES: DocumentFile[] = [
  {
    path: '/docs',
    operationId: 'getDocumentPage',
    summary: 'This document as a page',
    description: 'This document as a page. It loads nothing from other sites.',
    answer: 'A page',
    mediaType: 'text/html',
    example: '<!doctype html>\n<html lang="en">…</html>\n',
    read: text(PAGE),
  },
  {
    path: '/docs/viewer.js',
    operationId: 'getViewer',
    summary: 'The viewer of the page',
    description: 'Swagger UI, the program of the page.',
    answer: 'The file',
    mediaType: 'text/javascript',
    example: 'globalThis.SwaggerUIBundle = () => {}\n',
    read: () => readFile(require.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
  },
  {
    path: '/docs/viewer.css',
    operationId: 'getViewerStyle',
    summary: 'The style of the viewer',
    description: 'The style sheet of Swagger UI.',
    answer: 'The file',
    mediaType: 'text/css',
    example: '.swagger-ui { color: #3b4151 }\n',
    read: () => readFile(require.resolve('swagger-ui-dist/swagger-ui.css')),
  },
  {
    path: '/docs/start.js',
    operationId: 'getViewerStart',
    summary: 'The start of the viewer',
    description: 'Shows this document in the page.',
    answer: 'The file',
    mediaType: 'text/javascript',
    example: 'SwaggerUIBundle({})\n',
    read: text(START),
  },
]

const files = FILES.map(({ answer, mediaType, example, read, ...words }) =>
  route({
    ...PLAIN_GET,
    ...words,
    tag: 'Service',
    success: { status: 200, description: answer, body: z.string(), mediaType, example, headers: ['ETag'] },
    handle: kept(`${mediaType}; charset=utf-8`, read),
  }),
)

/** The calls that describe all calls: `routes` and themselves. */
export function documentation(routes: readonly Route[], version: string): Route[] {
  const own = [
    route({
      ...PLAIN_GET,
      path: '/openapi.json',
      operationId: 'getDocument',
      tag: 'Service',
      summary: 'This document',
      description: 'This document, made from the schemas that validate requests and describe answers.',
      success: {
        status: 200,
        description: 'An OpenAPI 3.1 document',
        body: z.looseObject({
          openapi: z.literal('3.1.0'),
          info: z.looseObject({}),
          paths: z.looseObject({}),
        }),
        example: {
          openapi: '3.1.0',
          info: { title: 'Forecast verification service', version: '1.0.0' },
          paths: {},
        },
        headers: ['ETag'],
      },
      handle: kept('application/json', () => {
        const document = openApiDocument([...routes, ...own], version)
        return Promise.resolve(new TextEncoder().encode(JSON.stringify(document)))
      }),
    }),
    ...files,
  ]
  return own
}

/** Answers the same bytes each time; they are made or read at the first request. */
function kept(contentType: string, read: () => Promise<Uint8Array>): () => Promise<Reply> {
  let reply: Promise<Reply> | undefined
  const make = async (): Promise<Reply> => {
    const body = await read()
    const isPage = contentType.startsWith('text/html')
    const mayChange = isPage || contentType === 'application/json'
    return {
      status: 200,
      body,
      headers: {
        'Content-Type': contentType,
        'Cache-Control': `public, max-age=${mayChange ? 60 : 86_400}`,
        'Content-Security-Policy': isPage ? PAGE_POLICY : SECURITY_HEADERS['Content-Security-Policy'],
        ETag: `"${sha256Hex(body)}"`,
      },
    }
  }
  return () => {
    reply ??= make().catch((error: unknown) => {
      reply = undefined
      throw error
    })
    return reply
  }
}
