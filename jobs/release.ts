// `fvs release`.
import { type ReleaseRequest, makeRelease } from '../pipeline/release/make.ts'
import { assertOrigin, completeLog } from '../pipeline/transparency/publish.ts'
import type { Components } from './components/components.ts'
import { recordRetirements } from './agents.ts'
import { keepHouse } from './housekeeping.ts'
import type { Report } from './output.ts'

export async function runRelease(components: Components, request: ReleaseRequest): Promise<Report> {
  const started = performance.now()
  await assertOrigin(components)
  await recordRetirements(components)
  const result = await makeRelease(components, request)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  await keepHouse(components, result)
  // The log comes last, because a damaged log must stop nothing else. The next run logs the releases that a
  // run has left out.
  await completeLog(components, result.release)
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
