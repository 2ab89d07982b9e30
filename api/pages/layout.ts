// The frame of every page: head, banner, navigation, one h1, content, foot; and what stands in it wherever it
// is needed: the ways to other pages of a list, the source of numbers, and a failure.
import type { Problem } from '../../schemas/answers.ts'
import { type Asset, ICON, STYLE } from './assets.ts'
import { type Html, type HtmlPart, dataBlock, html } from './html.ts'
import {
  type EarlierRelease,
  type Site,
  RELEASES_PATH,
  SEARCH_PATH,
  releasePath,
  addressOf,
  linkTo,
  linkToCurrent,
  serviceName,
} from './site.ts'
import { dayOf, time } from './wording.ts'

export interface Page {
  site: Site
  /** One line for the tab and for previews in chats, without the name of the service. */
  title: string
  /** One or two sentences for previews and search engines. */
  description: string
  /** The path of the page in its environment, with its query, as in `/view/agents?page=2`. */
  path: string
  /** The `h1`; the title if it is left out. */
  heading?: HtmlPart
  /**
   * The first paragraph, for a reader who has never seen the project: what the page shows, of whom, and what
   * it is good for. At most three short sentences, without a word of the project that they do not explain.
   */
  intro: HtmlPart
  content: HtmlPart
  /** False for a page that search engines should leave out, as they must all of the sandbox. */
  isIndexed?: boolean
  /** The Open Graph type of the page. */
  kind?: 'website' | 'profile' | 'article'
  scripts?: readonly Asset[]
  /** Paths of the same content for programs, by media type. */
  alternates?: Readonly<Record<string, string>>
  /** A picture of the content for previews, 1200 × 630. */
  picture?: { path: string; words: string }
  /** The content in the words of schema.org. */
  linkedData?: object
  /** The text in the field of the head. */
  sought?: string
  /** Of the page, in the foot: where its content comes from. */
  source?: HtmlPart
}

type Way = readonly [path: string, label: string]

const NAVIGATION: readonly Way[] = [
  ['/view/agents', 'Agents'],
  ['/view/forecasters', 'Forecasters'],
  // The list shows open questions first.
  ['/view/questions?status=open', 'Questions'],
  ['/view/how', 'How it works'],
]
/** Links in the head and in the foot of every page. */
const FURTHER: readonly Way[] = [
  ['/view/verify', 'Check'],
  ['/docs', 'For developers'],
]
/** Links in the foot alone. */
const WORDS: readonly Way[] = [
  ['/view/how', 'How it works'],
  ['/view/terms', 'Terms'],
  [RELEASES_PATH, 'Releases'],
]

/** Returns the whole document. Its bytes depend only on the argument. */
export function page({ heading, intro, content, source, sought, ...head }: Page): Html {
  const { site, path, title } = head
  return html`<!doctype html>
<html lang="en">
<head>
${headOf(head)}</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${site.environment === 'sandbox' && BANNER}${site.earlier && earlierBanner(site, site.earlier, path)}<header class="site"><div>
<a class="home" href="${linkTo(site, '/')}">${serviceName(site)}</a>
${searchField(site, sought)}<nav aria-label="Pages"><ul>
${items(site, path, [...NAVIGATION, ...FURTHER])}</ul></nav>
</div></header>
<main id="main" tabindex="-1">
<h1>${heading ?? title}</h1>
<p class="intro">${intro}</p>
${content}
</main>
<footer class="foot"><div>
<nav aria-label="Further pages"><ul>
${items(site, path, [...FURTHER, ...WORDS])}</ul></nav>
${operatorLine(site)}${keyLine(site)}${source !== undefined && html`<p>${source}</p>\n`}<p class="address">${site.publicUrl}${linkTo(site, path)}</p>
</div></footer>
</body>
</html>
`
}

const BANNER = html`<aside class="banner" aria-label="Environment">Sandbox: simulated questions. Nothing here says anything about real skill. <a href="/">The real service</a></aside>
`

function earlierBanner(site: Site, { release, asOf, current }: EarlierRelease, path: string): Html {
  const its = html`<a href="${linkTo(site, releasePath(release))}">release ${release}</a>`
  return html`<aside class="banner" aria-label="Release">This is ${its} of ${dayOf(asOf)}; <a href="${linkToCurrent(site, path)}">the current one is ${current}</a>.</aside>
`
}

function searchField(site: Site, sought = ''): Html {
  return html`<form class="seek" method="get" action="${linkTo(site, SEARCH_PATH)}" role="search" aria-label="All pages">
<input type="search" name="q" value="${sought}" aria-label="Name, question, id or link" placeholder="Name or question">
<button>Search</button>
</form>
`
}

function items(site: Site, path: string, ways: readonly Way[]): HtmlPart {
  const here = path.split('?')[0]
  return ways.map(([to, label]) => {
    const current = to.split('?')[0] === here && html` aria-current="page"`
    return html`<li><a href="${linkToCurrent(site, to)}"${current}>${label}</a></li>\n`
  })
}

/** Says who runs the service, with their links; nothing if the operator has set none. */
function operatorLine({ about }: Site): HtmlPart {
  if (about === undefined) return undefined
  const { operatorName, contactUrl, imprintUrl, privacyUrl, dataLicenceUrl } = about
  const ways = [
    [contactUrl, 'Contact'],
    [imprintUrl, 'Imprint'],
    [privacyUrl, 'Privacy'],
    [dataLicenceUrl, 'Licence of the data'],
  ] as const
  const links = ways.flatMap(([url, label]) => (url === undefined ? [] : html`<a href="${url}">${label}</a>`))
  const parts = [...(operatorName === undefined ? [] : [html`Run by <bdi>${operatorName}</bdi>`]), ...links]
  if (parts.length === 0) return undefined
  return html`<p class="operator">${parts.map((part, index) => [index > 0 && ' · ', part])}</p>\n`
}

/** A page on paper carries the key with it, to compare with the one of a later check. */
function keyLine({ logKeys = [] }: Site): HtmlPart {
  if (logKeys.length === 0) return undefined
  return html`<p class="operator">Key of the public log: ${logKeys.map((key) => html`<code>${key}</code> `)}</p>\n`
}

function headOf(head: Omit<Page, 'heading' | 'intro' | 'content' | 'source' | 'sought'>): HtmlPart {
  const { site, title, description, isIndexed = true, scripts = [], alternates = {}, linkedData } = head
  const isSandbox = site.environment === 'sandbox'
  return html`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ${serviceName(site)}${isSandbox && ' (sandbox)'}</title>
<meta name="description" content="${description}">
${(isSandbox || !isIndexed || site.earlier) && html`<meta name="robots" content="noindex">\n`}${preview(head)}${Object.entries(
    alternates,
  ).map(
    ([type, to]) => html`<link rel="alternate" type="${type}" href="${linkTo(site, to)}">\n`,
  )}<link rel="icon" href="${linkTo(site, ICON.path)}" type="${ICON.mediaType}">
<link rel="stylesheet" href="${linkTo(site, STYLE.path)}">
${scripts.map((script) => html`<script src="${linkTo(site, script.path)}" defer></script>\n`)}${linkedData && html`${dataBlock('application/ld+json', linkedData)}\n`}`
}

/** Only whole addresses are of use outside of the page. */
function preview({
  site,
  title,
  description,
  path,
  kind = 'website',
  picture,
}: Omit<Page, 'intro' | 'content'>): HtmlPart {
  if (site.publicUrl === undefined) return undefined
  const address = addressOf(site, path)
  return html`<link rel="canonical" href="${address}">
<meta property="og:type" content="${kind}">
<meta property="og:site_name" content="${serviceName(site)}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${address}">
${
  picture &&
  html`<meta property="og:image" content="${addressOf(site, picture.path)}">
<meta property="og:image:type" content="image/png">
<meta property="og:image:width" content="1200">
<meta property="og:image:height" content="630">
<meta property="og:image:alt" content="${picture.words}">
<meta name="twitter:card" content="summary_large_image">
`
}`
}

/** Returns a line such as “Release 12, as of 2026-11-21 21:46 UTC, method 4.0.0”. */
export function releaseLine(
  site: Site,
  { release, as_of, methodology_version }: { release: number; as_of: string; methodology_version: string },
): Html {
  return html`<a href="${linkTo(site, releasePath(release))}">Release ${release}</a>, as of ${time(as_of)}, <a href="${linkTo(site, '/view/methodology')}">method ${methodology_version}</a>`
}

interface Pager {
  /** The first is 1. */
  pageNumber: number
  pages: number
  pathOf: (pageNumber: number) => string
}

/** Nothing where there is only one page. */
export function pager(site: Site, { pageNumber, pages, pathOf }: Pager): HtmlPart {
  if (pages < 2) return undefined
  const link = (number: number, words: string, rel: string) =>
    number >= 1 &&
    number <= pages &&
    html`<a rel="${rel}" href="${linkTo(site, pathOf(number))}">${words}</a>\n`
  return html`<nav class="pager" aria-label="More pages">
${link(pageNumber - 1, '← Page before', 'prev')}<span>Page ${pageNumber} of ${pages}</span>
${link(pageNumber + 1, 'Next page →', 'next')}</nav>`
}

/**
 * Tells browsers that a page may only use this service: for its style, scripts, pictures, requests and forms.
 * Only pictures may also be in data URLs.
 */
export const PAGE_HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
}

/** Shows a failure: what was wrong with the request, and links to go on. */
export function problemPage(site: Site, path: string, { title, status, detail, errors = [] }: Problem): Html {
  const faults = errors.map((fault) => html`<li><code>${fault.pointer}</code> ${fault.detail}</li>\n`)
  return page({
    site,
    title,
    description: `${title} (${status})`,
    path,
    isIndexed: false,
    intro: html`<span class="sentence"><bdi>${detail}</bdi></span>`,
    content: html`${faults.length > 1 && html`<ul>\n${faults}</ul>\n`}<p>Go on from the <a href="${linkTo(site, '/')}">start</a>, the <a href="${linkTo(site, '/view/agents')}">agents</a>, the <a href="${linkTo(site, '/view/forecasters')}">forecasters</a> or the <a href="${linkTo(site, '/view/questions')}">questions</a>.</p>`,
    source: `Status ${status}`,
  })
}
