// Pools: who is linked by a chain of common questions of voices (METHODOLOGY §3, Skill).
import { inByteOrder } from './order.ts'

/** A scored pair. */
export interface Link {
  entity: string
  question: string
  contested: boolean
}

export interface Pools {
  /** The name of the pool of each question on which anybody has a contested pair. */
  ofQuestion: ReadonlyMap<string, string>
  /** The name of the pool of each entity that has a contested pair. */
  ofEntity: ReadonlyMap<string, string>
}

const least = (names: readonly string[]): string => names.toSorted(inByteOrder)[0]!

export function poolsOf(pairs: readonly Link[], voices: ReadonlySet<string>): Pools {
  const asked = new Set(pairs.filter(({ contested }) => contested).map(({ question }) => question))
  const edges = pairs.filter(({ entity, question }) => voices.has(entity) && asked.has(question))
  const members = [...Map.groupBy(edges, ({ question }) => question).values()].map((field) =>
    field.map(({ entity }) => entity),
  )
  // Each voice begins in a pool of its own name, and joins the least of those it meets until nothing changes.
  const ofVoice = new Map([...voices].map((voice) => [voice, voice]))
  for (let changed = true; changed;) {
    changed = false
    for (const field of members) {
      const name = least(field.map((voice) => ofVoice.get(voice)!))
      for (const voice of field) {
        if (ofVoice.get(voice) !== name) changed = true
        ofVoice.set(voice, name)
      }
    }
  }
  const ofQuestion = new Map(edges.map(({ entity, question }) => [question, ofVoice.get(entity)!]))
  const contested = pairs.filter((pair) => pair.contested)
  const ofEntity = new Map(
    [...Map.groupBy(contested, ({ entity }) => entity)].map(([entity, own]) => {
      const counts = [...Map.groupBy(own, ({ question }) => ofQuestion.get(question)!)]
      const most = Math.max(...counts.map(([, pairsThere]) => pairsThere.length))
      const names = counts.filter(([, pairsThere]) => pairsThere.length === most).map(([name]) => name)
      return [entity, voices.has(entity) ? ofVoice.get(entity)! : least(names)]
    }),
  )
  return { ofQuestion, ofEntity }
}
