// The OpenAPI document, the page that shows it, and the page of the data.
import { z } from 'zod'
import { type Reply, type Route, route } from '../http/route.ts'
import type { About } from '../about.ts'
import { dataPage } from '../pages/data.ts'
import { type ApiDocument, referencePage } from '../pages/reference.ts'
import { pageRoute } from './page-route.ts'

/** Returns the routes that describe `routes` and themselves. */
export function documentation(routes: readonly Route[], version: string): Route[] {
  let document: Promise<ApiDocument> | undefined
  const made = (about: About | undefined) => (document ??= documentOf([...routes, ...own], version, about))
  let reply: Promise<Reply> | undefined
  const own: Route[] = [
    route({
      path: '/openapi.json',
      operationId: 'getDocument',
      isDocumented: false,
      compressed: 'best',
      tag: 'Service',
      summary: 'This document',
      description: 'This document, made from the schemas that validate requests and describe answers.',
      success: {
        description: 'An OpenAPI 3.1 document',
        body: z.looseObject({
          openapi: z.literal('3.1.0'),
          info: z.looseObject({}),
          paths: z.looseObject({}),
        }),
        cache: 'public, max-age=60',
        example: {
          openapi: '3.1.0',
          info: { title: 'Forecast verification service', version: '1.0.0' },
          paths: {},
        },
      },
      handle: (_request, { site }) =>
        (reply ??= made(site.about).then((its) => ({ body: Buffer.from(JSON.stringify(its)) }))),
    }),
    pageRoute({
      path: '/docs',
      operationId: 'getDocumentPage',
      summary: 'This document as a page',
      follows: false,
      render: ({ site }) => ({ render: async () => referencePage(site, await made(site.about)) }),
    }),
    pageRoute({
      path: '/docs/data',
      operationId: 'getDataPage',
      summary: 'The columns and fields of the files of a release',
      follows: false,
      render: ({ site }) => ({ render: async () => dataPage(site) }),
    }),
  ]
  return own
}

/** The maker is large, and most nodes are never asked for the document. */
async function documentOf(
  routes: readonly Route[],
  version: string,
  about: About | undefined,
): Promise<ApiDocument> {
  const { openApiDocument } = await import('../openapi/document.ts')
  return JSON.parse(JSON.stringify(openApiDocument(routes, version, about))) as ApiDocument
}
