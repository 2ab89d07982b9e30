// The effect of an import as JSON: for commands and for the operator's calls.
import type { Effect } from './compare.ts'

export function effectJson(effect: Effect) {
  const { kind, rows, added, changed, unchanged, repeats, tooLate, madeVoid } = effect
  return {
    kind,
    rows,
    added,
    changed,
    changed_columns: effect.changedColumns,
    unchanged,
    repeats,
    missing_words: effect.voidCells,
    texts_changed: effect.altered,
    unwanted: effect.unwanted,
    withdrawals: effect.withdrawals,
    too_late: tooLate,
    made_void: madeVoid,
  }
}
