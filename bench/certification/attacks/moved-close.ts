// A moved close: the operator closes each question at its outcome, so that early outcomes are settled early.
import type { Study } from '../study.ts'
import { earlyOutcomes } from './early-outcomes.ts'

export const studies: Record<string, Study> = {
  '': earlyOutcomes(true, 'early outcomes, the close moved to each outcome', {
    least: 0.8,
    most: 1,
    open: 'the operator says when a question closes',
  }),
}
