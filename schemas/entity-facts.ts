// The catalogue of facts: the members of a payload about an entity beside its metrics. The schemas of
// payloads, their examples and the lines of a staged release follow from it.
import { z } from 'zod'
import { type PublicationKind, count } from './metric.ts'
import { ENTITY_TYPES, type EntityType } from './tables.ts'
import { instant } from './values.ts'

/** The payloads that may have facts. */
export type FactualKind = PublicationKind | 'profile'

type Kinds = readonly FactualKind[]
type Only = readonly EntityType[]

/** Describes a fact. `only` names the kinds of entities that have it. */
function fact<S extends z.ZodType, const K extends Kinds, const O extends Only, const E extends z.infer<S>>(
  schema: S,
  kinds: K,
  only: O,
  about: string,
  example: E,
) {
  return { schema: schema.describe(about), kinds, only, example, isInstant: false as const }
}

/** Describes an instant, which is held in milliseconds and published as text. */
function instantFact<S extends z.ZodType, const K extends Kinds, const O extends Only>(
  schema: S,
  kinds: K,
  only: O,
  about: string,
  example: z.infer<S>,
) {
  return { ...fact(schema, kinds, only, about, example), isInstant: true as const }
}

const AGENTS = ['agent'] as const
const EVERYONE = ENTITY_TYPES
const PROFILE = ['profile'] as const
const RECORD = ['verification', 'profile'] as const
const EVERYWHERE = ['verification', 'rankings', 'profile'] as const

const text = z.string().nullable()
const instantIfAny = instant.nullable()

/** The facts of an entity at `as_of`, in the order in which schemas list them. */
// prettier-ignore
export const ENTITY_FACTS = {
  name: fact(text, RECORD, AGENTS,
    'As registered, or as the operator has corrected it: a claim. Null for an agent that is hidden', 'my-agent'),
  model_type: fact(text, RECORD, AGENTS,
    'As registered: a claim. Null for an agent that is hidden', 'a language model with search'),
  owner_id: fact(text, RECORD, AGENTS,
    'Who answers for it, as the operator has recorded it; `domain:` and a name where that domain proves it', 'example-laboratory'),
  retired_at: instantFact(instantIfAny, EVERYWHERE, AGENTS,
    'When it was retired, and with that lost its rank; null while it takes part', null),
  organization_name: fact(text, PROFILE, AGENTS, 'As registered: a claim', 'Example Laboratory'),
  registered_at: instantFact(instant, PROFILE, AGENTS, 'When it was registered', '2026-01-05T08:30:00.000Z'),
  last_forecast_at: instantFact(instantIfAny, RECORD, EVERYONE,
    'When it last made a forecast; null if never', '2026-02-28T21:04:11.018Z'),
  open_forecasts: fact(count, PROFILE, EVERYONE, 'Open questions on which it has a forecast', 17),
  next_close_at: instantFact(instantIfAny, PROFILE, EVERYONE,
    'When the first of these closes; null without one', '2026-03-02T00:00:00.000Z'),
  overdue_forecasts: fact(count, PROFILE, EVERYONE,
    'Questions on which it has a forecast, which closed without an outcome', 2),
} as const

type Catalogue = typeof ENTITY_FACTS
export type FactName = keyof Catalogue
export const FACT_NAMES = Object.keys(ENTITY_FACTS) as FactName[]

/** The facts of one entity in memory; null if its kind lacks the fact. */
export type HeldFacts = {
  -readonly [Name in FactName]: Catalogue[Name]['isInstant'] extends true
    ? number | null
    : z.infer<Catalogue[Name]['schema']>
}

type NameIn<K extends FactualKind, E extends EntityType> = {
  [Name in FactName]: K extends Catalogue[Name]['kinds'][number]
    ? E extends Catalogue[Name]['only'][number]
      ? Name
      : never
    : never
}[FactName]

function namesIn(kind: FactualKind, entityType: EntityType): FactName[] {
  return FACT_NAMES.filter((name) => {
    const { kinds, only } = ENTITY_FACTS[name]
    return (
      (kinds as readonly FactualKind[]).includes(kind) && (only as readonly EntityType[]).includes(entityType)
    )
  })
}

/** Returns the schemas of the facts in a payload. */
export function factFields<K extends FactualKind, E extends EntityType>(
  kind: K,
  entityType: E,
): { [Name in NameIn<K, E>]: Catalogue[Name]['schema'] } {
  const fields = namesIn(kind, entityType).map((name) => [name, ENTITY_FACTS[name].schema])
  return Object.fromEntries(fields) as ReturnType<typeof factFields<K, E>>
}

/** Returns the facts of a payload as an example. */
export function exampleFacts(kind: FactualKind, entityType: EntityType): Record<string, unknown> {
  return Object.fromEntries(namesIn(kind, entityType).map((name) => [name, ENTITY_FACTS[name].example]))
}

/** Returns the facts of a payload as they are published. */
export function publishedFacts(
  kind: FactualKind,
  entityType: EntityType,
  facts: HeldFacts,
): Record<string, string | number | null> {
  return Object.fromEntries(namesIn(kind, entityType).map((name) => [name, publishedFact(facts, name)]))
}

/** Returns a fact as it is published: an instant as text. */
export function publishedFact(facts: HeldFacts, name: FactName): string | number | null {
  const value = facts[name]
  return ENTITY_FACTS[name].isInstant ? instantOf(value as number | null) : value
}

/** Formats an instant as published: UTC with milliseconds. */
function instantOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
