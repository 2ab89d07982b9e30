// `fvs serve`.
import type { Logger } from 'pino'
import { failWork } from '../../api/http/net.ts'
import { compileNoMore } from '../../api/http/v8.ts'
import type { Settings } from '../../schemas/config.ts'
import { withEveryEnvironment } from '../components/components.ts'
import type { Report } from '../command-line/output.ts'
import { startService } from './service.ts'
import { checkSigningOfNode } from '../release/signing-as-before.ts'
import { stopSignal } from '../command-line/stop-signal.ts'
import { type GlobalOptions, command, finish, settingsFor } from '../command-line/program.ts'

interface ServeOptions extends GlobalOptions {
  scheduler: boolean
  sharePort?: boolean
}

export function addServe(): void {
  command('serve', 'Serve the API and make releases on schedule, until SIGTERM or SIGINT.')
    .option('--no-scheduler', 'only serve, as a further node on the same store')
    .option('--share-port', 'let other processes with this option serve on the same port')
    .action(async ({ scheduler, sharePort = false, ...options }: ServeOptions) => {
      finish(await runServe(settingsFor(options), { scheduler, sharePort }), options)
    })
}

/** Serves until a signal to stop, or a stray exception. Resolves once the service has stopped. */
export async function runServe(
  settings: Settings,
  { scheduler, sharePort }: { scheduler: boolean; sharePort: boolean },
): Promise<Report> {
  // The scheduled commands are separate processes. They find their store in the variables of this one.
  process.env['STORE_URL'] = settings.STORE_URL
  // Catch signals from here on, so that one during the start stops the service as soon as it has started.
  const stopping = stopSignal()
  return withEveryEnvironment(settings, async (components) => {
    for (const each of Object.values(components)) await checkSigningOfNode(each, scheduler)
    const service = await startService(components, { scheduler, sharePort })
    const stray = strayException(components.production.logger)
    const ok = await Promise.race([stopping.then(() => true), stray.then(() => false)])
    compileNoMore()
    await service.stop()
    return { ok, json: { url: service.url }, text: '' }
  })
}

/**
 * Catches stray exceptions from now on: those of no call and of no step of the work in the background.
 * Resolves at the first. Nobody knows what it left undone, so the process must end, and another one take its
 * place.
 */
function strayException(logger: Logger): Promise<void> {
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
