// A route that answers a page for people. It is no part of the API, and may be kept for a minute.
import { z } from 'zod'
import type { ApiContext } from '../http/context.ts'
import type { Release } from '../published/release-payloads.ts'
import type { Site } from '../pages/site.ts'
import { Html, html } from '../pages/html.ts'
import { PAGE_HEADERS } from '../pages/policy.ts'
import { bytesOf } from '../published/rendered.ts'
import { type Reply, type Route, route } from '../http/route.ts'
import { type Asker, SERVICE } from '../turns.ts'

const nothing = z.strictObject({})

/** A page with a status of its own, or the way to another page. */
type Shown = Html | Uint8Array | { status: number; page: Html } | { to: string }

interface PageRoute<P extends z.ZodType, Q extends z.ZodType> {
  /** The path, with parameters as `{name}`. */
  path: string
  operationId: string
  /** The content of the page, in a few words. */
  summary: string
  params?: P
  query?: Q
  /** False for a page that does not depend on the store. */
  follows?: boolean
  /** Whether the page shows questions or their titles. */
  needsQuestions?: true
  /** As in a `RouteSpec`. */
  namesRelease?: true
  /** Whether the page is rendered once for a release and then kept. */
  isKept?: true
  render: (
    request: {
      params: z.infer<P>
      query: z.infer<Q>
      /** As in a `RouteRequest`; the service when it renders the page for itself. */
      asker: Asker
      /** That of the context, with what its pages show of an earlier release. */
      site: Site
    },
    context: ApiContext,
    release: Release,
  ) => Shown | Promise<Shown>
}

export function pageRoute<P extends z.ZodType = typeof nothing, Q extends z.ZodType = typeof nothing>({
  path,
  operationId,
  summary,
  params,
  query,
  follows = true,
  needsQuestions,
  namesRelease,
  isKept,
  render,
}: PageRoute<P, Q>): Route {
  return route({
    path,
    operationId,
    isDocumented: false,
    limit: 'page',
    tag: 'Service',
    summary,
    description: `${summary}, as a page for people.`,
    ...(follows && { follows: true, needsStore: true }),
    ...(needsQuestions && { needsQuestions }),
    ...(namesRelease && { namesRelease }),
    params: params ?? nothing,
    query: query ?? nothing,
    success: {
      description: 'A page',
      body: z.string(),
      mediaType: 'text/html',
      cache: 'public, max-age=60',
      example: '<!doctype html>\n<html lang="en">…</html>\n',
    },
    compressed: follows ? 'fast' : 'best',
    handle: async (request, context, release) => {
      const { params: named, query: wanted } = request as { params: z.infer<P>; query: z.infer<Q> }
      const { asker } = request
      const site = siteIn(context.site, release)
      const page = await render({ params: named, query: wanted, asker, site }, context, release)
      // The next release does not render pages of earlier ones.
      if (isKept && release.earlierThan === undefined && !('to' in page)) {
        const again = { params: named, query: wanted, asker: SERVICE, site }
        context.pages.wasAsked(nameOf(path, named, wanted), (next) => render(again, context, next))
      }
      return replyOf(page)
    },
  })
}

/** Pages of an earlier release say so, and lead to others of the same release. */
function siteIn(site: Site, { manifest, earlierThan }: Release): Site {
  if (!earlierThan) return site
  const { release, as_of: asOf } = manifest!
  return { ...site, earlier: { release, asOf, current: earlierThan.manifest!.release } }
}

function replyOf(shown: Shown): Reply {
  if (shown instanceof Uint8Array) return { body: shown, headers: PAGE_HEADERS }
  if (shown instanceof Html) return { body: bytesOf(shown), headers: PAGE_HEADERS }
  if ('to' in shown) {
    // The body names the address, so that the tags of two answers differ.
    const body = html`<!doctype html>\n<title>See</title>\n<a href="${shown.to}">${shown.to}</a>\n`
    return { status: 303, body: bytesOf(body), headers: { ...PAGE_HEADERS, Location: shown.to } }
  }
  return { status: shown.status, body: bytesOf(shown.page), headers: PAGE_HEADERS }
}

/** Returns the part of a page's key that changes with the release that it is of. */
export function releaseKeyOf({ manifest, earlierThan }: Release): string {
  return `${manifest?.release ?? 0} ${earlierThan?.manifest?.release}`
}

/** Names a page among those that are kept. */
function nameOf(path: string, params: unknown, query: unknown): string {
  return `${path} ${JSON.stringify([params, query])}`
}
