// Tells search engines which pages there are.
import { type Html, html } from './html.ts'
import { type Site, addressOf } from './site.ts'

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
export function sitemap(site: Site, profiles: readonly string[]): Html {
  const isTold = site.environment === 'production' && site.publicUrl !== undefined
  const paths = isTold ? [...FIXED, ...profiles] : []
  return html`<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${paths.map((path) => html`<url><loc>${addressOf(site, path)}</loc></url>\n`)}</urlset>
`
}

export function robots(site: Site): string {
  const lines = ['User-agent: *', 'Allow: /']
  if (site.publicUrl !== undefined)
    lines.push('', `Sitemap: ${addressOf({ ...site, environment: 'production' }, '/sitemap.xml')}`)
  return `${lines.join('\n')}\n`
}
