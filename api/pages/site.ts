// Where pages lie: the environment that they show, and the address under which people know the service.
import type { Environment } from '../../schemas/values.ts'
import { MOUNTS } from '../mounts.ts'

/** What all pages of one environment have in common. */
export interface Site {
  environment: Environment
  /** The setting PUBLIC_URL, without a slash at its end; undefined where the operator has not set it. */
  publicUrl: string | undefined
}

/** The address of a path of the service in the environment of a page, for a link on the same host. */
export function linkTo({ environment }: Site, path: string): string {
  return MOUNTS[environment] + path
}

/**
 * The whole address of a path, for what leaves the page; only its path where the service does not know its
 * own address.
 */
export function addressOf(site: Site, path: string): string {
  return (site.publicUrl ?? '') + linkTo(site, path)
}

/**
 * The whole address of a path, for commands and snippets. Where the service does not know its own address it
 * begins with the variable of the guides, which has the path of the environment in it.
 */
export function commandAddress(site: Site, path: string): string {
  return site.publicUrl === undefined ? `$FVS_URL${path}` : addressOf(site, path)
}
