// The settings of `fvs mcp` from environment variables: the service that it calls, and the agent that it
// calls as.
import { z } from 'zod'
import { parseVerifierKey } from '../../pipeline/proof/note-keys.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { uuid } from '../../schemas/values.ts'
import { WORDED } from '../../schemas/wording.ts'

const URL_FAULT = 'must be http[s]://host[:port], with /sandbox after it for the sandbox, and nothing else'

const KEYS_FAULT =
  'must be public keys of the log, and of witnesses, as fvs log key prints them, with commas or white space between'

const settings = z
  .object({
    FVS_URL: z
      .url({ protocol: /^https?$/, error: URL_FAULT, abort: true })
      .refine((text) => {
        const { username, password, search, hash } = new URL(text)
        return `${username}${password}${search}${hash}` === ''
      }, URL_FAULT)
      .transform((text) => text.replace(/\/+$/, ''))
      .default('http://127.0.0.1:3000'),
    FVS_AGENT_ID: uuid.optional(),
    FVS_API_KEY: z
      .string()
      .regex(/^fv_(live|test)_\w+$/, 'must be the api_key that the agent got when it registered')
      .optional(),
    LOG_VKEY: z
      .string()
      .transform((text, context) => {
        try {
          const keys = text
            .split(/[\s,]+/)
            .filter((each) => each !== '')
            .map(parseVerifierKey)
          if (keys.some(({ use }) => use === 'log')) return keys
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error
        }
        context.addIssue({ code: 'custom', message: KEYS_FAULT })
        return z.NEVER
      })
      .default([]),
  })
  .refine(({ FVS_API_KEY, FVS_AGENT_ID }) => FVS_API_KEY === undefined || FVS_AGENT_ID !== undefined, {
    path: ['FVS_AGENT_ID'],
    message: 'must be set to the agent whose key FVS_API_KEY is',
  })
  .refine(
    ({ FVS_URL, LOG_VKEY }) =>
      LOG_VKEY.every(
        ({ use, name }) => use !== 'log' || name.endsWith('/sandbox') === FVS_URL.endsWith('/sandbox'),
      ),
    {
      path: ['LOG_VKEY'],
      message: 'must be of the environment of FVS_URL: in the sandbox, and only there, both end in /sandbox',
    },
  )

export type McpSettings = z.infer<typeof settings>

/**
 * @throws ServiceError `invalid` that names every wrong setting. It shows no value, because each may hold a
 *   secret.
 */
export function parseMcpSettings(variables: Record<string, string | undefined>): McpSettings {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))
  const parsed = settings.safeParse(given, WORDED)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map(({ path, message }) => ({
    pointer: String(path[0]),
    detail: message,
  }))
  const names = [...new Set(faults.map(({ pointer }) => pointer))].join(', ')
  throw new ServiceError('invalid', `wrong settings in the environment: ${names}`, { faults })
}
