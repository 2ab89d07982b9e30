// Those who are compared, two of them with what they share, and the words for both.
import type { EntityMetrics } from '../../schemas/metrics.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { type Html, html } from './html.ts'
import { questionPath } from './links.ts'
import { shownName, unnamed } from './profile/subject.ts'
import { type Site, linkTo } from './site.ts'
import { endOf, named } from './wording.ts'
import { NANO } from '../../schemas/values.ts'

/** A compared agent or forecaster. */
export interface Side {
  entityType: EntityType
  id: string
  name: string | null
  /** Of the profile. */
  path: string
  /** Of all its forecasts, not only of those on shared questions. */
  curve: EntityMetrics['calibration_curve']
}

/** A question that two shared, with whole 1e-9 of their errors over the shared time. */
export interface SharedQuestion {
  questionId: string
  outcome: 0 | 1
  coverage: number
  errors: readonly [number, number]
}

export interface ComparedPair {
  /** The places of the two among the sides. */
  sides: readonly [number, number]
  questions: number
  clusters: number
  brier: readonly [number, number] | null
  difference: number | null
  interval: { lower: number; upper: number; level: number } | null
  /** Those on which they differ most come first. */
  shared: readonly SharedQuestion[]
}

export interface Compared {
  site: Site
  sides: readonly Side[]
  /** Each two of the sides; empty as long as it is open who is meant. */
  pairs: readonly ComparedPair[]
  /** Of the shared questions; null where the node does not know one. */
  titles: ReadonlyMap<string, string | null>
}

export type TwoSides = readonly [Side, Side]

export function sidesOf({ sides }: Pick<Compared, 'sides'>, pair: ComparedPair): TwoSides {
  return [sides[pair.sides[0]]!, sides[pair.sides[1]]!]
}

/** By how much the first one was closer on a question, weighted by the shared time. */
export function gainOf({ errors: [one, other] }: SharedQuestion): number {
  return (other - one) / NANO
}

/** Counts the questions on which each was closer. */
export function closerOf({ shared }: ComparedPair): { first: number; second: number; equal: number } {
  const gains = shared.map(gainOf)
  const [first, second] = [gains.filter((gain) => gain > 0).length, gains.filter((gain) => gain < 0).length]
  return { first, second, equal: gains.length - first - second }
}

/** A link to the profile. */
export function linked(site: Site, side: Omit<Side, 'curve'>): Html {
  return html`<a href="${linkTo(site, side.path)}">${nameOf(side)}</a>`
}

export function nameOf(side: Omit<Side, 'curve'>): Html {
  return shownName(side.entityType, side.id, side.name)
}

export function plainName({ entityType, id, name }: Omit<Side, 'curve'>): string {
  return name ?? unnamed(entityType, id)
}

export function titleLink(site: Site, id: string, titles: Compared['titles']): Html {
  const title = titles.get(id) ?? null
  return html`<a href="${linkTo(site, questionPath(id))}">${title === null ? endOf(id) : named(title)}</a>`
}
