// The path under which each environment is served.
import type { Environment } from '../schemas/values.ts'

export const MOUNTS: Record<Environment, string> = { production: '', sandbox: '/sandbox' }

/** The environment under whose path a path lies. */
export function environmentOf(path: string): Environment {
  const { sandbox } = MOUNTS
  return path === sandbox || path.startsWith(`${sandbox}/`) ? 'sandbox' : 'production'
}
