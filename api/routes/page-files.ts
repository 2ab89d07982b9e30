// The files that pages load, and the files that search engines ask for.
import { z } from 'zod'
import { LEADERBOARD_PATHS } from '../../schemas/entity-paths.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { ENTITY_TYPES } from '../../schemas/tables.ts'
import { type Reply, type Route, FOR_EVER, route } from '../http/route.ts'
import { type Asset, ASSETS, ICON } from '../pages/assets.ts'
import { type Html, html } from '../pages/html.ts'
import { idOf } from '../pages/ranking.ts'
import { type Site, addressOf } from '../pages/site.ts'
import type { Leaderboard } from '../published/leaderboard.ts'
import type { Published } from '../published/published.ts'
import type { Release } from '../published/release-payloads.ts'

const DAY = 'public, max-age=86400'
const MINUTE = 'public, max-age=60'

interface PageFile {
  path: string
  operationId: string
  summary: string
  mediaType: string
  cache: string
  follows?: true
  compressed?: Route['compressed']
  body: (context: Published, release: Release) => Reply['body'] | Promise<Reply['body']>
}

function pageFile({ summary, mediaType, cache, follows, compressed, body, ...words }: PageFile): Route {
  return route({
    ...words,
    isDocumented: false,
    // A page that explains a refusal must have its style.
    limit: 'other',
    tag: 'Service',
    summary,
    description: `${summary}.`,
    ...(follows && { follows: true, needsStore: true }),
    success: { description: 'The file', body: z.string(), mediaType, cache, example: '…' },
    ...(compressed && { compressed }),
    handle: async (_request, context, release) => ({ body: await body(context, release) }),
  })
}

function assetFile({ path, bytes, mediaType }: Asset): Route {
  const operationId = `getAsset${path.replaceAll(/\W/g, '')}`
  return pageFile({
    path,
    operationId,
    summary: 'What pages load',
    mediaType,
    cache: FOR_EVER,
    compressed: 'best',
    body: () => bytes,
  })
}

export const pageFiles: Route[] = [
  ...ASSETS.map(assetFile),
  pageFile({
    path: '/favicon.ico',
    operationId: 'getIcon',
    summary: 'The picture of the service in lists of pages',
    mediaType: ICON.mediaType,
    cache: DAY,
    compressed: 'best',
    body: () => ICON.bytes,
  }),
  pageFile({
    path: '/robots.txt',
    operationId: 'getRobots',
    summary: 'What search engines may read',
    mediaType: 'text/plain',
    cache: DAY,
    body: ({ site }) => new TextEncoder().encode(robots(site)),
  }),
  pageFile({
    path: '/sitemap.xml',
    operationId: 'getSitemap',
    summary: 'The pages that there are',
    mediaType: 'application/xml',
    cache: MINUTE,
    follows: true,
    compressed: 'fast',
    body: ({ site, rendered, leaderboard }, release) =>
      rendered.get(release, '/sitemap.xml', {
        render: async () =>
          sitemap(site, release.manifest ? await rankedProfiles(leaderboard, release.manifest) : []),
      }),
  }),
]

/** The most pages of each leaderboard that are read for the map. A map may name 50,000 pages at most. */
const MOST_PAGES = 200

/** Returns the profiles that search engines should find: those of ranked entities. */
async function rankedProfiles(leaderboard: Leaderboard, manifest: ReleaseManifest): Promise<string[]> {
  const profiles: string[] = []
  for (const entityType of ENTITY_TYPES) {
    for (let page = 0; page < MOST_PAGES; page++) {
      const entries = (await leaderboard.file(manifest, entityType, page))?.entries ?? []
      const ranked = entries.filter(({ rank }) => rank !== null)
      profiles.push(...ranked.map((entry) => `${LEADERBOARD_PATHS[entityType]}/${idOf(entry)}`))
      if (ranked.length < entries.length || entries.length === 0) break
    }
  }
  return profiles
}

/** Pages that exist without any entity. */
const FIXED = [
  '/',
  '/view/agents',
  '/view/forecasters',
  '/view/topics',
  '/view/questions',
  '/view/how',
  '/view/methodology',
  '/view/terms',
  '/view/verify',
]

/**
 * Names no pages without `PUBLIC_URL`, because only whole addresses count, and none of the sandbox, because
 * nobody should find them.
 */
function sitemap(site: Site, profiles: readonly string[]): Html {
  const isTold = site.environment === 'production' && site.publicUrl !== undefined
  const paths = isTold ? [...FIXED, ...profiles] : []
  return html`<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${paths.map((path) => html`<url><loc>${addressOf(site, path)}</loc></url>\n`)}</urlset>
`
}

function robots(site: Site): string {
  const lines = ['User-agent: *', 'Allow: /']
  if (site.publicUrl !== undefined)
    lines.push('', `Sitemap: ${addressOf({ ...site, environment: 'production' }, '/sitemap.xml')}`)
  return `${lines.join('\n')}\n`
}
