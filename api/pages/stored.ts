// Payloads as a store may hold them: releases of version 2 of the method stay as they were made, and pages
// show them without the numbers that they lack.
import type { EntityMetricName } from '../../schemas/metrics.ts'

type SinceVersion3 =
  | Extract<
      EntityMetricName,
      | 'board_interval'
      | 'coverage'
      | 'crowd_evidence'
      | 'evidence'
      | 'fragility'
      | 'pending_questions'
      | 'pool'
      | 'pool_size'
      | 'strict_skill_interval'
      | 'witnessed_share'
    >
  | 'overdue_forecasts'
  | 'retired_at'

/** A payload whose newer members may be absent, and so may `Also`, members of this payload that are newer. */
export type Stored<P, Also extends string = never> = P extends unknown
  ? Omit<P, SinceVersion3 | Also> & Partial<Pick<P, Extract<keyof P, SinceVersion3 | Also>>>
  : never
