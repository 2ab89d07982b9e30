// All pages for people.
import type { Methodology } from '../../pipeline/scoring/methodology.ts'
import type { Route } from '../http/route.ts'
import { checkPage } from './check-page.ts'
import { comparePageRoute } from './compare-page.ts'
import { entityQuestionsPages } from './entity-questions-pages.ts'
import { eventPageRoute } from './event-page.ts'
import { fixedPages } from './fixed-pages.ts'
import { landingAndBoards } from './landing-and-boards.ts'
import { ownerPageRoute } from './owner-page.ts'
import { profilePages } from './profile-pages.ts'
import { questionPages } from './question-pages.ts'
import { releasePages } from './release-pages.ts'
import { searchRoute } from './search.ts'
import { topicPages } from './topic-pages.ts'

export function pages(methodology: Methodology, methodologyText: Uint8Array): Route[] {
  return [
    ...landingAndBoards(methodology),
    ...topicPages(methodology),
    ...questionPages,
    eventPageRoute,
    ...fixedPages(methodologyText),
    ...profilePages(methodology),
    ...entityQuestionsPages,
    ownerPageRoute,
    ...releasePages,
    checkPage,
    comparePageRoute,
    searchRoute(methodology.parameters.eligible_questions),
  ]
}
