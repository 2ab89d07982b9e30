// The parts that answer from a release and from the public log.
import type { Feed } from '../../pipeline/feed/feed.ts'
import type { BoardParts } from './board-parts.ts'
import type { ComputedParts } from './computed-parts.ts'
import type { CurrentRelease } from './current-release.ts'
import type { History } from './history.ts'
import type { ProofParts } from './proof-parts.ts'
import type { PublicData } from './public-data.ts'
import type { ReleaseFiles } from './release-files.ts'
import type { ReleaseRecords } from './release-records.ts'
import type { RenderedAnswers } from './rendered.ts'

export interface Published extends BoardParts, ComputedParts, ProofParts {
  /** A call answers from the release that it is given, which may be an earlier one. */
  current: CurrentRelease
  files: ReleaseFiles
  history: History
  records: ReleaseRecords
  rendered: RenderedAnswers
  feed: Pick<Feed, 'after'>
  publicData: Pick<PublicData, 'index' | 'find' | 'read'>
  /** Whether the sandbox of this service has a release, so that there is something to try. */
  isSandboxSeeded: () => boolean
  /** When the next release is due; undefined if this node does not know. */
  nextReleaseAt: () => Date | undefined
  /** The same for pages; undefined too if this service makes no releases by itself. */
  promisedReleaseAt: () => Date | undefined
  /** Updates what this node knows, if nobody has asked it for anything lately. */
  catchUp: () => Promise<unknown>
}
