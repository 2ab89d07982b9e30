// The skill of an entity by topic, the category of the questions.
import type { Methodology } from './methodology.ts'
import { type ErrorPair, type RunningPoint, runningSkill } from './running.ts'

export interface TopicSkill {
  /** Null for questions without a category. */
  topic: string | null
  /** Contested questions of the topic. */
  questions: number
  /**
   * The skill on these questions alone, with an interval at the usual level (METHODOLOGY §3); undefined with
   * fewer questions than a rank takes.
   */
  point: RunningPoint | undefined
}

/**
 * Returns the topics with a contested question, the most frequent first. Each interval holds at its level for
 * its topic alone: of twenty intervals, one is expected to miss.
 *
 * @param pairs in the order (settled_at, question_id).
 */
export function skillByTopic(
  methodology: Methodology,
  pairs: readonly (ErrorPair & { category: string | null })[],
): TopicSkill[] {
  const contested = pairs.filter((pair) => pair.contested)
  const topics = [...Map.groupBy(contested, ({ category }) => category)].map(([topic, own]): TopicSkill => {
    const isShown = own.length >= methodology.parameters.eligible_questions
    const point = isShown ? runningSkill(methodology, own, null).at(-1) : undefined
    return { topic, questions: own.length, point }
  })
  return topics.sort((a, b) => b.questions - a.questions || compareTopics(a.topic, b.topic))
}

/** Compares by UTF-16 code units, and puts null last. */
function compareTopics(a: string | null, b: string | null): number {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? 1 : -1
  return a < b ? -1 : 1
}
