// The path under which each environment is served.
import type { Environment } from '../schemas/values.ts'

export const MOUNTS: Record<Environment, string> = { production: '', sandbox: '/sandbox' }
