// `fvs stage publish leaderboards` and `publish owners`: read entities in order, and put files.
import { ServiceError } from '../../schemas/errors.ts'
import { ENTRIES_PER_PAGE, leaderboardPage } from '../release/leaderboard.ts'
import { ownerFile } from '../release/owners.ts'
import type { ListedEntity } from '../release/payloads.ts'
import type { ReleaseContext } from '../release/state.ts'
import { type Fields, type Input, formatOf, jsonOf, wholeOf } from './lines.ts'
import { planned, unitsIn } from './planned.ts'
import { entityTypeOf } from './tally.ts'

const ENTRY = ['page', 'entity_type', 'entity_id', 'pool_size', 'pool', 'value', 'content'] as const
/** The order of a board. */
export const BY_PLACE = {
  pool_size: 'descending',
  pool: 'text',
  value: 'descending',
  entity_id: 'text',
} as const
const ENTRIES = formatOf('a leaderboard', ENTRY, { entity_type: 'text', page: 'number', ...BY_PLACE })

/** Puts pages of the leaderboards. Yields a line for each. */
export async function* leaderboardLines(
  context: ReleaseContext,
  release: number,
  input: Input,
): AsyncIterable<string> {
  const { provenance, put } = await planned(context, release)
  const { at } = ENTRIES
  const begin = (first: Fields) => {
    const page = wholeOf(first[at.page]!)
    const members: ListedEntity[] = []
    return {
      take(fields: Fields) {
        members.push(jsonOf(fields[at.content]!) as ListedEntity)
        if (members.length > ENTRIES_PER_PAGE)
          throw new ServiceError('invalid', `page ${page} has too many entries`)
      },
      end: () => put(leaderboardPage(entityTypeOf(first[at.entity_type]!), page, members, provenance)),
    }
  }
  yield* unitsIn(input, ENTRIES, begin, ['page', 'entity_type'])
}

const AGENT = ['file', 'owner', 'entity_id', 'content'] as const
const AGENTS = formatOf('an agent of an owner', AGENT, { file: 'number', owner: 'text', entity_id: 'text' })

/** Puts files of owners. Yields a line for each. */
export async function* ownerLines(
  context: ReleaseContext,
  release: number,
  input: Input,
): AsyncIterable<string> {
  const { provenance, sign, put } = await planned(context, release)
  const { at } = AGENTS
  yield* unitsIn(input, AGENTS, (first) => {
    const agents: ListedEntity[] = []
    return {
      take(fields) {
        agents.push(jsonOf(fields[at.content]!) as ListedEntity)
      },
      end() {
        const owners = [...Map.groupBy(agents, ({ ownerId }) => ownerId!)]
        return put(ownerFile(wholeOf(first[at.file]!), owners, provenance, sign), { agents: agents.length })
      },
    }
  })
}
