// Software that comes after the one that made a store's releases: another method, another version, another
// secret.
import type { Components } from '../../jobs/components/components.ts'
import { type ReleaseRequest, type ReleaseResult, makeRelease } from '../../pipeline/release/make.ts'
import { METHODOLOGY, type Methodology } from '../../pipeline/scoring/methodology.ts'
import { OTHER_SECRET, type TestOptions, testComponents } from './http/service.ts'

/** Gives other skills than the method does. */
export const OTHER_METHOD: Methodology = {
  ...METHODOLOGY,
  version: '4.1.0',
  parameters: { ...METHODOLOGY.parameters, shrinkage_questions: 40 },
}

export async function laterComponents(options: TestOptions): Promise<Components> {
  const settings = { VERIFICATION_SIGNING_SECRET: OTHER_SECRET }
  return { ...(await testComponents({ ...options, settings })), methodology: OTHER_METHOD, service: '5.0.0' }
}

export async function laterRelease(
  options: TestOptions,
  request: ReleaseRequest = {},
): Promise<ReleaseResult> {
  return makeRelease(await laterComponents(options), request)
}
