// `fvs release` and `fvs release plan`.
import { type Command, Option } from 'commander'
import { MOUNTS } from '../../api/mounts.ts'
import { FeedWriter } from '../../pipeline/feed/writer.ts'
import { type ReleaseRequest, type ReleaseResult, makeRelease } from '../../pipeline/release/make.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { type ReleaseSummary, summaryOf } from '../../pipeline/release/compare.ts'
import { planStages } from '../../pipeline/release/stage/plan.ts'
import { manifestPath } from '../../pipeline/store/paths.ts'
import { issueCredentials } from '../../pipeline/credentials/issue.ts'
import { assertOrigin, completeLog } from '../../pipeline/transparency/publish.ts'
import type { Components } from '../components/components.ts'
import { recordOwnStatements } from '../agents/own-statements.ts'
import { keepHouse } from './housekeeping.ts'
import type { Report } from '../command-line/output.ts'
import { parseTime } from '../command-line/arguments.ts'
import { type StoreOptions, onStore, storeCommand } from '../command-line/program.ts'
import { assertSigningAsBefore } from './signing-as-before.ts'

interface ReleaseOptions extends StoreOptions {
  asOf?: Date
  ifChanged?: boolean
  unsigned?: boolean
}

export function addRelease(): void {
  const releases = storeCommand('release', 'Take in the inbox, score everyone and publish a release.')
    .addOption(new Option('--as-of <time>', 'score as of this instant (default: now)').argParser(parseTime))
    .option('--if-changed', 'make none where nothing has changed since the last release of the day')
    .option(
      '--unsigned',
      'go on without the secret or the key of the log that the last release was made with',
    )
    .action((options: ReleaseOptions) =>
      onStore(options, 'writes', async (components) => {
        if (options.unsigned !== true) await assertSigningAsBefore(components)
        return runRelease(components, { asOf: options.asOf, ifChanged: options.ifChanged === true })
      }),
    )

  releases
    .command('plan')
    .description('Take in the inbox and plan a release, for an engine that makes it in stages; prints JSON.')
    .action((_options: object, planned: Command) => {
      // The options belong to the command above.
      const { asOf, ifChanged = false, unsigned, ...options } = planned.optsWithGlobals<ReleaseOptions>()
      return onStore({ ...options, json: true }, 'writes', async (components) => {
        if (unsigned !== true) await assertSigningAsBefore(components)
        return runPlan(components, { asOf, ifChanged })
      })
    })
}

export async function runRelease(components: Components, request: ReleaseRequest): Promise<Report> {
  const started = performance.now()
  await assertOrigin(components)
  await recordOwnStatements(components)
  const result = await makeRelease(components, request)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  // Sum up before housekeeping, which may delete files of the release before.
  const summary = result.made ? await summaryOrNone(components, result.release) : undefined
  await keepHouse(components, result)
  // Do the log, the feed and the credentials last, because a damaged one must stop nothing else. The next run
  // logs releases that a run has left out.
  await completeLog(components, result.release)
  await new FeedWriter(components).write()
  await issueCredentials(components, result.release)
  if (result.made) {
    const { all: _all, ...numbers } = summary ?? { all: undefined }
    const manifest = manifestAddress(components, result.release)
    const text = `release ${result.release} as of ${result.asOf}: ${result.entities} entities, ${result.pairs} scored pairs, ${result.files} files, ${seconds} s`
    const lines = [text, ...(summary ? summaryLines(summary, result) : []), whereToLook(components, manifest)]
    return { ok: true, json: { ...result, ...numbers, manifest }, text: lines.join('\n') }
  }
  const text =
    result.reason === 'unchanged'
      ? `nothing has changed since release ${result.release}; none was made`
      : `another run published release ${result.release} first; this one published nothing`
  return { ok: true, json: result, text }
}

export async function runPlan(components: Components, request: ReleaseRequest): Promise<Report> {
  await assertOrigin(components)
  await recordOwnStatements(components)
  return { ok: true, json: await planStages(components, request), text: '' }
}

/**
 * Returns the summary, or undefined if it fails: the release is published, and must not look like a failure.
 */
async function summaryOrNone(components: Components, release: number): Promise<ReleaseSummary | undefined> {
  const { store, environment, logger } = components
  try {
    const [manifest, previous] = await Promise.all([
      readManifest(store, release),
      release === 1 ? undefined : readManifest(store, release - 1),
    ])
    if (!manifest) return undefined
    return await summaryOf(components, manifest, previous)
  } catch (error) {
    logger.warn({ err: error, environment, release }, 'the release was published, and cannot be summed up')
    return undefined
  }
}

function summaryLines(
  { scored, settled, certified, lost, corrected, erased, all }: ReleaseSummary,
  { release }: Pick<ReleaseResult, 'release'>,
): string[] {
  const since = release === 1 ? '' : ` since release ${release - 1}`
  return [
    `scored:    ${scored} questions with an outcome`,
    `settled:   ${settled} of them${since}, ${all.settled} in all`,
    `certified: ${certified} agents and forecasters${since}, ${all.certified} in all`,
    `lost:      ${lost} certificates${since}`,
    `corrected: ${corrected} values of questions and outcomes${since}`,
    ...(erased > 0 ? [`erased:    ${erased} people${since}`] : []),
  ]
}

/** Returns the public address of the manifest, or its place in the store. */
function manifestAddress({ settings, store, environment }: Components, release: number): string {
  const { PUBLIC_URL: url } = settings
  return url === undefined
    ? `${store.url.replace(/\/$/, '')}/${manifestPath(release)}`
    : `${url}${MOUNTS[environment]}/releases/${release}`
}

function whereToLook({ settings, environment }: Components, manifest: string): string {
  const { PUBLIC_URL: url } = settings
  return url === undefined
    ? `look at:   ${manifest}`
    : `look at:   ${url}${MOUNTS[environment]}/ and ${manifest}`
}
