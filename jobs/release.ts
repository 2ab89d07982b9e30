// `fvs release`.
import { type ReleaseContext, type ReleaseRequest, makeRelease } from '../pipeline/release.ts'
import { type Components, SERVICE_VERSION } from './components.ts'
import type { Report } from './output.ts'

export async function runRelease(components: Components, request: ReleaseRequest): Promise<Report> {
  const started = performance.now()
  const result = await makeRelease(releaseContext(components), request)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
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

export function releaseContext(components: Components): ReleaseContext {
  const { settings, logger } = components
  return {
    ...components,
    environment: settings.ENVIRONMENT,
    service: SERVICE_VERSION,
    log: (event, fields) => {
      logger.info(fields, event)
    },
  }
}
