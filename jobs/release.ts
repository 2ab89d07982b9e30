// `fvs release`.
import { sweepExpired, sweepPart } from '../pipeline/access/idempotency.ts'
import type { ReleaseContext } from '../pipeline/release/context.ts'
import { type ReleaseRequest, makeRelease } from '../pipeline/release/make.ts'
import { deleteOldFiles } from '../pipeline/release/retention.ts'
import { type Components, SERVICE_VERSION } from './components.ts'
import type { Report } from './output.ts'
import { simulate } from './simulation/sandbox-step.ts'

export async function runRelease(components: Components, request: ReleaseRequest): Promise<Report> {
  const started = performance.now()
  const isSandbox = components.environment === 'sandbox'
  if (isSandbox) await stepOn(components)
  const result = await makeRelease(releaseContext(components), request)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  await sweepClaims(components)
  if (isSandbox && result.made) await thinOut(components, result.release)
  if (result.made) {
    const text = `release ${result.release} as of ${result.asOf}: ${result.entities} entities, ${result.pairs} scored pairs, ${result.files} files, ${seconds} s`
    return { ok: true, json: result, text }
  }
  const text =
    result.reason === 'unchanged'
      ? `nothing has changed since release ${result.release}; none was made`
      : `another run published release ${result.release} first; this one published nothing`
  return { ok: true, json: result, text }
}

/** What agents have sent is released whatever becomes of the simulation. */
async function stepOn(components: Components): Promise<void> {
  try {
    await simulate(components)
  } catch (error) {
    components.logger.error({ err: error }, 'the simulation could not go on; the next release tries again')
  }
}

/** Keeps house after a release, a part of it each time; what is left out, a later one sweeps. */
async function sweepClaims({ environment, store, now, logger }: Components): Promise<void> {
  try {
    const claims = await sweepExpired(store, now(), sweepPart(now()))
    if (claims > 0) logger.info({ environment, claims }, 'deleted expired claims of Idempotency-Keys')
  } catch (error) {
    // The release is made, and must not be reported as failed.
    logger.warn({ err: error, environment }, 'could not delete expired claims of Idempotency-Keys')
  }
}

/** Only the sandbox forgets: production keeps what it has published until an operator decides. */
async function thinOut({ store, logger }: Components, release: number): Promise<void> {
  try {
    const releases = await deleteOldFiles(store, release)
    if (releases > 0) logger.info({ releases }, 'thinned out old releases')
  } catch (error) {
    logger.warn({ err: error }, 'could not thin out old releases')
  }
}

export function releaseContext(components: Components): ReleaseContext {
  const { logger, environment } = components
  return {
    ...components,
    service: SERVICE_VERSION,
    log: (event, fields) => {
      logger.info({ environment, ...fields }, event)
    },
  }
}
