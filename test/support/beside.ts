// Large data that lie beside the repository, in ../shared. Suites that need them skip without them; no suite
// of `npm test` does.
import { existsSync } from 'node:fs'

const FOLDER = new URL('../../../shared/', import.meta.url)

/**
 * The URLs of files or folders of ../shared, or undefined, which is said once, if one of them is missing.
 *
 * @throws Error in CI, which must not skip, unless FVS_SHARED=absent says that the machine has no such
 *   folder.
 */
export function besideRepository(...paths: string[]): URL[] | undefined {
  const urls = paths.map((path) => new URL(path, FOLDER))
  const missing = paths.filter((_, index) => !existsSync(urls[index]!))
  if (missing.length === 0) return urls
  const reason = `these tests need ${missing.map((path) => `../shared/${path}`).join(' and ')}`
  if (process.env['CI'] === 'true' && process.env['FVS_SHARED'] !== 'absent') throw new Error(reason)
  console.warn(`skipped: ${reason}`)
  return undefined
}
