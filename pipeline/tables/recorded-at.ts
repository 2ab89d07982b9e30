// When the rows of a table count as recorded: where rows replace each other, what is said later counts later.
import { type TableVersion, statisticsOf } from './delta.ts'
import { isReplaced } from './views.ts'

/**
 * The earliest instant at which a row of the next version may be recorded, whatever the clocks of the
 * machines say.
 */
export function earliestAfter(last: TableVersion): Date | undefined {
  const recordedAt = isReplaced(last.table) ? lastRecordedAt(last) : undefined
  return recordedAt && new Date(recordedAt.getTime() + 1)
}

/** When the latest row of a table was recorded; undefined if it has none. */
export function lastRecordedAt({ files }: Pick<TableVersion, 'files'>): Date | undefined {
  let last = ''
  for (const file of files) {
    const recordedAt = String(statisticsOf(file).maxValues['recorded_at'])
    if (recordedAt > last) last = recordedAt
  }
  return last === '' ? undefined : new Date(last)
}
