// The calls that answer with records of a release, of its history, and of what happened, in the order of the
// OpenAPI document.
import type { Route } from '../http/route.ts'
import { readFeed } from './feed.ts'
import { usage } from './keys.ts'
import { leaderboard } from './leaderboard.ts'
import { owner } from './owners.ts'
import { people } from './people.ts'
import { publications } from './publications.ts'
import { currentRelease, numberedRelease, releaseFeed } from './releases.ts'
import { scores } from './scores.ts'
import { snapshots } from './snapshots.ts'
import { bulk } from './verification.ts'

export const records: Route[] = [
  ...publications,
  ...scores,
  bulk,
  usage,
  snapshots,
  leaderboard,
  people,
  owner,
  currentRelease,
  numberedRelease,
  releaseFeed,
  readFeed,
]
