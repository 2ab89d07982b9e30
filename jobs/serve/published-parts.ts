// The parts that answer from a release and from the public log.
import { CurrentRelease } from '../../api/published/current-release.ts'
import { History } from '../../api/published/history.ts'
import { PublicData } from '../../api/published/public-data.ts'
import { ReleaseFiles } from '../../api/published/release-files.ts'
import { ReleaseRecords } from '../../api/published/release-records.ts'
import { RenderedAnswers } from '../../api/published/rendered.ts'
import { Feed } from '../../pipeline/feed/feed.ts'
import type { Components } from '../components/components.ts'
import { boardParts } from './board-parts.ts'
import { computedParts } from './computed-parts.ts'
import { proofParts } from './proof-parts.ts'

export function publishedParts(components: Components, isSandboxSeeded: () => boolean) {
  const { settings, own, store, now, monotonicMs } = components
  const files = new ReleaseFiles({ store, monotonicMs }, settings.SHARD_CACHE_BYTES)
  const proofs = proofParts(components, files)
  const boards = boardParts(components, files)
  const computed = computedParts(components, files)
  const history = new History(store, settings.SHARD_CACHE_BYTES)
  const rendered = new RenderedAnswers(boards.people)
  const { sign, publicLog, site } = proofs
  return {
    ...proofs,
    ...boards,
    ...computed,
    files,
    history,
    rendered,
    current: new CurrentRelease({ store, monotonicMs, files, sign, warmed: [history, rendered] }),
    records: new ReleaseRecords(store, site, rendered),
    feed: new Feed(store, now),
    publicData: new PublicData({ store, files, publicLog, history, rendered, what: own.PUBLIC_DATA }),
    isSandboxSeeded,
  }
}
