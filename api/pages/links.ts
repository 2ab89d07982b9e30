// The paths of pages, in one place.
export function questionPath(id: string): string {
  return `/view/questions/${id}`
}

/** The tables of the page of a settled question, as CSV. */
export type QuestionTable = 'answers' | 'last-forecasts' | 'course'

export function questionTable(id: string, table: QuestionTable): string {
  return `${questionPath(id)}/${table}.csv`
}

/** The list of all releases. */
export const RELEASES_PATH = '/view/releases'

export function releasePath(release: number): string {
  return `${RELEASES_PATH}/${release}`
}

/** The list of all topics. */
export const TOPICS_PATH = '/view/topics'

/** The page of a topic, which is a category of questions. */
export function topicPath(category: string): string {
  return `${TOPICS_PATH}/${encodeURIComponent(category)}`
}

export function ownerPath(id: string): string {
  return `/view/owners/${encodeURIComponent(id)}`
}

/** Returns a path with a query of the parameters that have a value, or the path alone if none has. */
export function withQuery(path: string, parameters: Record<string, string | number | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`
}
