// The site of a page: the environment that it shows, the address under which people know the service, and the
// paths of its pages.
import type { Environment } from '../../schemas/values.ts'
import { type About, DEFAULT_NAME } from '../about.ts'
import { MOUNTS } from '../mounts.ts'

/** The values that all pages of one environment share. */
export interface Site {
  environment: Environment
  /** The setting PUBLIC_URL, without a slash at its end; undefined if the operator has not set it. */
  publicUrl: string | undefined
  /** Nothing but the default name where it is left out. */
  about?: About
  /** The keys of the public log; empty if there is none. */
  logKeys?: readonly string[]
  /** The release that the page shows, if it is an earlier one. */
  earlier?: EarlierRelease
}

/** A release that is not the current one any more. */
export interface EarlierRelease {
  release: number
  asOf: string
  /** The number of the current release. */
  current: number
}

export function serviceName({ about }: Pick<Site, 'about'>): string {
  return about?.serviceName ?? DEFAULT_NAME
}

/**
 * Returns the address of a path in the environment of a page, for a link on the same host. A page of an
 * earlier release leads to others of the same release.
 */
export function linkTo({ environment, earlier }: Site, path: string): string {
  return MOUNTS[environment] + (earlier === undefined ? path : inRelease(path, earlier.release))
}

/** Returns the address of a path for a link that leads to the current release from whatever page. */
export function linkToCurrent(site: Pick<Site, 'environment'>, path: string): string {
  return MOUNTS[site.environment] + path
}

/** The paths of the routes with `namesRelease`, and no others. */
const OF_RELEASES =
  /^\/(?:view\/(?:agents|forecasters)(?:\.csv|\/[^/]+(?:\/questions(?:\.csv)?)?)?|view\/topics(?:\/[^/]+)?|view\/questions\/[^/]+(?:\/[a-z-]+\.csv)?|(?:view\/)?owners\/[^/]+|(?:agents|forecaster)\/[^/]+(?:\/(?:verification|metrics|rankings|advanced-metrics|scores))?|leaderboard\/[^/]+)$/

/** Adds a release to a path that may be asked of earlier ones. */
export function inRelease(path: string, release: number): string {
  const [, bare, query, anchor] = /^([^?#]*)(\?[^#]*)?(#.*)?$/.exec(path)!
  if (!OF_RELEASES.test(bare!)) return path
  return `${bare}${query === undefined ? '?' : `${query}&`}release=${release}${anchor ?? ''}`
}

/**
 * Returns the whole address of a path in the current release, for use outside of the page, or only the path
 * if the service does not know its own address.
 */
export function addressOf(site: Site, path: string): string {
  return (site.publicUrl ?? '') + linkToCurrent(site, path)
}

/**
 * Returns the whole address of a path, for commands and snippets. If the service does not know its own
 * address, the result begins with the variable of the guides, which includes the path of the environment.
 */
export function commandAddress(site: Site, path: string): string {
  return site.publicUrl === undefined ? `$FVS_URL${path}` : addressOf(site, path)
}

export function questionPath(id: string): string {
  return `/view/questions/${id}`
}

export function eventPath(id: string): string {
  return `/view/events/${encodeURIComponent(id)}`
}

/** The tables of the page of a settled question, as CSV. */
export type QuestionTable = 'answers' | 'last-forecasts' | 'course'

export function questionTable(id: string, table: QuestionTable): string {
  return `${questionPath(id)}/${table}.csv`
}

/** The list of all releases. */
export const RELEASES_PATH = '/view/releases'

export function releasePath(release: number): string {
  return `${RELEASES_PATH}/${release}`
}

/** The list of all topics. */
export const TOPICS_PATH = '/view/topics'

/** The page of a topic, which is a category of questions. */
export function topicPath(category: string): string {
  return `${TOPICS_PATH}/${encodeURIComponent(category)}`
}

export const SEARCH_PATH = '/view/search'

export function ownerPath(id: string): string {
  return `/view/owners/${encodeURIComponent(id)}`
}

/** Returns a path with a query of the parameters that have a value, or the path alone if none has. */
export function withQuery(path: string, parameters: Record<string, string | number | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`
}
