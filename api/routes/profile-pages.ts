// The profiles of agents and forecasters.
import { replacedOutcomes } from '../../pipeline/release/compare.ts'
import type { Methodology } from '../../pipeline/scoring/methodology.ts'
import { skillByTopic } from '../../pipeline/scoring/topics.ts'
import { callPath } from '../../schemas/entity-paths.ts'
import { releaseQuery } from '../../schemas/requests.ts'
import { type EntityType, ENTITY_TYPES } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import type { Route } from '../http/route.ts'
import { profilePage } from '../pages/profile/profile.ts'
import { type Payloads, questionsOf as countOf } from '../pages/profile/subject.ts'
import { SEARCH_PATH, withQuery, linkTo } from '../pages/site.ts'
import { pageRoute } from './page-route.ts'
import { certificateIn, credentialOf, dayOf, daysBefore, earlierDays, runningOf } from './profile-parts.ts'
import { NAMES, addressOf, callsFor, publishedOf, scoresOf, stateOf, unreleased } from './published-entity.ts'

export function profilePages(methodology: Methodology): Route[] {
  return ENTITY_TYPES.map((entityType) => profile(entityType, methodology))
}

function profile(entityType: EntityType, methodology: Methodology): Route {
  const { path, idOrName, idIn } = addressOf(entityType)
  return pageRoute({
    path,
    operationId: `show${NAMES[entityType]}`,
    summary: `What is published of an ${entityType}`,
    params: idOrName,
    query: releaseQuery,
    namesRelease: true,
    needsQuestions: true,
    render: async ({ params: given, asker, site }, context, release) => {
      const id = idIn(given)
      if (!uuid.safeParse(id).success) return { to: linkTo(site, withQuery(SEARCH_PATH, { q: id })) }
      const verification = await release.find(entityType, id, 'verification', asker)
      if (!verification) return unreleased(context, release, entityType, id)
      const calls = callsFor(countOf(verification.payload as Payloads['verification']))
      const count = () =>
        asker.countMore(calls + context.history.callsOfSome(...earlierDays(release, entityType, id)))
      const credential = await credentialOf(context, release, entityType, id)
      // The credentials of a release are issued a moment after it.
      const render = async () => {
        const { manifest, payloads } = await publishedOf(context, release, entityType, id)
        const scores = (await scoresOf(context, entityType, id, manifest)).toReversed()
        return profilePage({
          site,
          published: payloads,
          verification: {
            text: new TextDecoder().decode(verification.bytes),
            signature: verification.signature,
            proofPath: context.publicLog.isThere
              ? `${callPath(entityType, id)}/verification/proof?release=${manifest.release}`
              : undefined,
          },
          scores,
          certificate: credential && certificateIn(credential.document),
          running: runningOf(methodology, payloads, scores),
          topics: skillByTopic(methodology, scores),
          days: [...(await daysBefore(context, release, entityType, id)), ...dayOf(payloads)],
          replaced: replacedOutcomes(manifest.corrections),
          rules: methodology.parameters,
          boardSize:
            payloads.rankings.rank === null
              ? 0
              : await context.leaderboard.boardSize(manifest, entityType, payloads.rankings),
        })
      }
      return { state: `${String(credential?.document['id'])} ${stateOf(context)}`, count, render }
    },
  })
}
