// Exceptions that no code of a serving process has caught.
import type { Logger } from 'pino'
import { failWork } from '../../api/http/net.ts'

/**
 * Catches them from now on. Resolves at the first that belongs to no call and to no step of the work in the
 * background: nobody knows what it left undone, so the process must end, and another one take its place.
 */
export function strayException(logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    process.on('uncaughtException', (error) => {
      if (failWork(error)) {
        logger.error({ err: error }, 'a callback has thrown: the call or the step that began it has failed')
        return
      }
      logger.fatal({ err: error }, 'a callback of no call has thrown: the service stops')
      resolve()
    })
  })
}
