// The outcomes and the states of questions, each with a name in the OpenAPI document.
import { z } from 'zod'
import { QUESTION_STATUSES } from './requests.ts'
import { EVENT_KINDS, IMPORTED_TABLES, OUTCOMES } from './tables.ts'

export const questionStatus = z.enum(QUESTION_STATUSES)
/** An outcome as the operator states it. `open` withdraws an earlier outcome. */
export const statedOutcome = z.enum(OUTCOMES)
export const questionOutcome = statedOutcome.exclude(['open'])
/** An outcome by which forecasts are scored. */
export const scoredOutcome = statedOutcome.extract(['yes', 'no'])
export const eventKind = z.enum(EVENT_KINDS)
export const importKind = z.enum(IMPORTED_TABLES)
/** How the questions of a unit depend on each other. */
export const unitJoint = z.enum(['lone', 'ordered', 'exclusive'])
