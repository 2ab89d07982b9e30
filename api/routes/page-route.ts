// A route that answers a page for people. It is no part of the API, and may be kept for a minute.
import { z } from 'zod'
import type { ApiContext } from '../http/context.ts'
import type { Release } from '../published/release-payloads.ts'
import { type Site, withQuery } from '../pages/site.ts'
import { Html, html } from '../pages/html.ts'
import { PAGE_HEADERS } from '../pages/layout.ts'
import { type Rendering, bytesOf } from '../published/rendered.ts'
import { type Reply, type Route, route } from '../http/route.ts'
import { type Asker, SERVICE } from '../turns.ts'

const nothing = z.strictObject({})

/** A page, one with a status of its own, one that is rendered once, or the way to another page. */
type Shown = Html | { status: number; page: Html } | Rendering | { to: string }

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
      const shownIn = async (its: Release, asker: Asker) =>
        render({ params: named, query: wanted, asker, site: siteIn(context.site, its) }, context, its)
      const shown = await shownIn(release, request.asker)
      if (!('render' in shown)) return replyOf(shown)
      const again = async (next: Release) => {
        const its = await shownIn(next, SERVICE)
        return 'render' in its ? its : undefined
      }
      const url = urlOf(path, named, wanted)
      const body = await (follows
        ? context.rendered.get(release, url, shown, release.earlierThan ? undefined : again)
        : context.rendered.get(undefined, url, shown))
      return { body, headers: PAGE_HEADERS }
    },
  })
}

/** Pages of an earlier release say so, and lead to others of the same release. */
function siteIn(site: Site, { manifest, earlierThan }: Release): Site {
  if (!earlierThan) return site
  const { release, as_of: asOf } = manifest!
  return { ...site, earlier: { release, asOf, current: earlierThan.manifest!.release } }
}

function replyOf(shown: Exclude<Shown, Rendering>): Reply {
  if (shown instanceof Html) return { body: bytesOf(shown), headers: PAGE_HEADERS }
  if ('to' in shown) {
    // The body names the address, so that the tags of two answers differ.
    const body = html`<!doctype html>\n<title>See</title>\n<a href="${shown.to}">${shown.to}</a>\n`
    return { status: 303, body: bytesOf(body), headers: { ...PAGE_HEADERS, Location: shown.to } }
  }
  return { status: shown.status, body: bytesOf(shown.page), headers: PAGE_HEADERS }
}

/** Returns the URL of a page among those of its release. */
function urlOf(path: string, params: unknown, query: unknown): string {
  const { release: _its, ...rest } = query as Record<string, string | undefined>
  const named = params as Record<string, string>
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(named[name]!))
  return withQuery(filled, rest)
}
