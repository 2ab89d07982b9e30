// The logger of a process. It writes to standard error, and never an API key.
import { type Logger, destination, pino } from 'pino'
import { redactKeys } from '../../pipeline/access/api-key.ts'
import { escapedJson } from '../../pipeline/printable.ts'
import type { Settings } from '../../schemas/config.ts'

export function loggerOf({ LOG_LEVEL: level }: Settings): Logger {
  return pino(
    { level, base: null, hooks: { streamWrite: (line) => escapedJson(redactKeys(line)) } },
    destination({ dest: 2, sync: true }),
  )
}
