// A worker of `fvs serve --workers`: serves as a single process does, and asks its primary for all that the
// workers share.
import cluster from 'node:cluster'
import { compileNoMore } from '../../../api/http/v8.ts'
import { parseSettings } from '../../../schemas/config.ts'
import { withEveryEnvironment } from '../../components/components.ts'
import { startService } from '../service.ts'
import { stopSignal } from '../stop-signal.ts'
import { strayException } from '../stray-exceptions.ts'
import { failureOf } from './messages.ts'
import { PrimaryLink } from './primary-link.ts'

const worker = cluster.worker!
// Otherwise Node would end the worker at once when its primary is gone, and cut off its answers.
worker.exitedAfterDisconnect = true
const link = new PrimaryLink(Number(process.argv[2]))
const releases = process.argv[3] === 'true'
let isServing = false
void link.stopped.then(() => {
  // Without its primary a worker that has not begun to listen never will.
  if (!isServing && !process.connected) process.exit(1)
})
const stopping = Promise.race([stopSignal(), link.stopped])
try {
  await withEveryEnvironment(
    parseSettings(process.env),
    async (components) => {
      const service = await startService(components, { scheduler: false, releases, link })
      isServing = true
      link.ready(service)
      const stray = strayException(components.production.logger).then(() => (process.exitCode = 1))
      await Promise.race([stopping, stray])
      compileNoMore()
      await service.stop()
    },
    { worker: worker.id, pid: process.pid },
  )
} catch (error) {
  link.failed(failureOf(error))
  process.exitCode = 1
}
if (process.connected) process.disconnect()
