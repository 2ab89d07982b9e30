// `fvs retention`.
import { thinReleases } from '../../pipeline/release/retention.ts'
import { assertEnvironment } from '../../pipeline/release/state.ts'
import type { Components } from '../components/components.ts'
import type { Report } from '../command-line/output.ts'
import { wholeNumber } from '../command-line/arguments.ts'
import { type StoreOptions, onStore, storeCommand } from '../command-line/program.ts'

export function addRetention(): void {
  storeCommand(
    'retention',
    'Delete shards and Parquet files of old releases; what says how they were made stays.',
  )
    .requiredOption(
      '--keep <number>',
      'how many releases keep their files, the current one among them',
      wholeNumber,
    )
    .action((options: StoreOptions & { keep: number }) =>
      onStore(options, 'writes', (components) => runRetention(components, options.keep)),
    )
}

export async function runRetention(components: Components, keep: number): Promise<Report> {
  const { number: current } = await assertEnvironment(components)
  const deleted = await thinReleases(components, current, keep)
  const { releases, files, bytes } = deleted
  const kept = keep === 1 ? 'the current release' : `the last ${keep} releases`
  return {
    ok: true,
    json: { current, keep, ...deleted },
    text:
      releases > 0
        ? `thinned ${releases} ${releases === 1 ? 'release' : 'releases'}: ${files} files with ${bytes} bytes are gone; nothing of ${kept} was touched`
        : `there was nothing to thin: the current release is ${current}, and nothing of ${kept} is touched`,
  }
}
