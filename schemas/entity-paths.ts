// The paths of entities below the address of the service: in calls and on pages.
import type { EntityType } from './tables.ts'

export const LEADERBOARD_PATHS: Record<EntityType, string> = {
  agent: '/view/agents',
  forecaster: '/view/forecasters',
}

export function profilePath(entityType: EntityType, id: string): string {
  return `${LEADERBOARD_PATHS[entityType]}/${id}`
}

/** Returns the beginning of the paths of calls about an entity. */
export function callPath(entityType: EntityType, id: string): string {
  return entityType === 'agent' ? `/agents/${id}` : `/forecaster/${id}`
}

/** Returns the path of a whole leaderboard as CSV. */
export function boardTablePath(entityType: EntityType): string {
  return `${LEADERBOARD_PATHS[entityType]}.csv`
}

/** Returns the path of all questions of an entity as CSV. */
export function questionTablePath(entityType: EntityType, id: string): string {
  return `${profilePath(entityType, id)}/questions.csv`
}
