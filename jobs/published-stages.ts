// The files that `fvs stage publish` makes.

export const PUBLISHED = [
  'shards',
  'entities',
  'scores',
  'leaderboards',
  'owners',
  'categories',
  'references',
  'questions',
] as const
export type Published = (typeof PUBLISHED)[number]
/** The files that rank entities. */
export const RANKED: readonly Published[] = ['shards', 'entities']
