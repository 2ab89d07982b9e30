// How often an entity updates a question, in the mean.
import { type Recipe, after, replace } from './recipe.ts'

export const metric: Recipe = {
  files: {
    'schemas/metrics.ts': [
      after(
        "  updates: counted(ADVANCED, FORECASTS, 'forecasts on a question after the first', 52),\n",
        "  updates_per_question: measured(ADVANCED, FORECASTS, 'mean of the updates of a settled question; null without one', 0.5),\n",
      ),
    ],
    'pipeline/scoring/entity.ts': [
      after(
        "    updates: sum('forecasts') - rowCount,\n",
        "    updates_per_question: ratio(sum('forecasts') - rowCount, rowCount),\n",
      ),
    ],
    'test/support/plain/entity.ts': [
      replace(
        '  return { updates: moves.length, responsiveness',
        '  return { updates: moves.length, updates_per_question: orNull(moves.length / settled.length), responsiveness',
      ),
    ],
    'test/scoring/entity.test.ts': [after('    updates: 0,\n', '    updates_per_question: null,\n')],
    'docs/methodology.md': [
      replace(
        '- **`conviction`**: the mean over',
        '- **`updates_per_question`**: the mean of the updates of a settled question; null without one.\n- **`conviction`**: the mean over',
      ),
    ],
  },
}
