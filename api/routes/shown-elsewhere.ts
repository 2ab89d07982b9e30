// The pictures and documents by which an entity shows its record elsewhere.
import type { Methodology } from '../../pipeline/scoring/methodology.ts'
import type { Route } from '../http/route.ts'
import { badges } from './badges.ts'
import { cards } from './cards.ts'
import { credentials } from './credentials.ts'

export function shownElsewhere(methodology: Methodology): Route[] {
  return [...badges(methodology), ...cards(methodology), ...credentials(methodology)]
}
