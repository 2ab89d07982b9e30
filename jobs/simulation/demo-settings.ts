// The settings that `fvs demo` runs with, and the variables by which other commands work on what it shows.
import { randomBytes } from 'node:crypto'
import { type Settings, parseSettings } from '../../schemas/config.ts'
import type { Components } from '../components.ts'
import type { DemoOutcome } from './demo-report.ts'

/** The settings that `variables` set, and the demo's own for all others; the store is always the demo's. */
export function demoSettings(variables: NodeJS.ProcessEnv, storeUrl: string): Settings {
  return parseSettings({
    PORT: '0',
    // The demo's agents do within seconds, from one address, what takes others weeks.
    SANDBOX_REGISTRATIONS_PER_HOUR: '1000',
    SANDBOX_FORECASTS_PER_MINUTE: '100000',
    LOG_LEVEL: 'warn',
    REFRESH_MS: '250',
    SHUTDOWN_TIMEOUT_MS: '2000',
    SANDBOX_VERIFICATION_SIGNING_SECRET: randomBytes(32).toString('base64url'),
    ...Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== '')),
    STORE_URL: storeUrl,
  })
}

/** What a command in another terminal needs to work on this sandbox as the demo does, and what its examples name. */
export function variablesOf({ settings, own }: Components, outcome: DemoOutcome): Record<string, string> {
  const secret = own.VERIFICATION_SIGNING_SECRET ?? ''
  return {
    STORE_URL: outcome.store,
    SANDBOX_VERIFICATION_SIGNING_SECRET: secret,
    LOG_LEVEL: settings.LOG_LEVEL,
    FVS_URL: outcome.url,
    SIGNING_SECRET: secret,
    DATA: outcome.data,
    AGENT_ID: outcome.agents[0]!.id,
    USER_ID: outcome.forecasters[0]!.id,
    QUESTION_ID: outcome.open_question_id,
  }
}

export function shellExports(variables: Record<string, string>): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join('')
}
