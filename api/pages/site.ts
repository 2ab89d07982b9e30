// The site of a page: the environment that it shows, and the address under which people know the service.
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
}

export function serviceName({ about }: Pick<Site, 'about'>): string {
  return about?.serviceName ?? DEFAULT_NAME
}

/** Returns the address of a path in the environment of a page, for a link on the same host. */
export function linkTo({ environment }: Site, path: string): string {
  return MOUNTS[environment] + path
}

/**
 * Returns the whole address of a path, for use outside of the page, or only the path if the service does not
 * know its own address.
 */
export function addressOf(site: Site, path: string): string {
  return (site.publicUrl ?? '') + linkTo(site, path)
}

/**
 * Returns the whole address of a path, for commands and snippets. If the service does not know its own
 * address, the result begins with the variable of the guides, which includes the path of the environment.
 */
export function commandAddress(site: Site, path: string): string {
  return site.publicUrl === undefined ? `$FVS_URL${path}` : addressOf(site, path)
}
