// The recorded times of rows. Where rows replace each other, a later statement gets a later time.
import { type TableVersion, statisticsOf } from './delta.ts'
import { isReplaced } from './views.ts'

/**
 * Returns the earliest instant at which a row of the next version may be recorded, whatever the clocks of the
 * machines say; undefined if any instant will do.
 */
export function earliestAfter(last: TableVersion): Date | undefined {
  const recordedAt = isReplaced(last.table) ? lastRecordedAt(last) : undefined
  return recordedAt && new Date(recordedAt.getTime() + 1)
}

/** Returns when the latest row of a table was recorded; undefined if it has none. */
export function lastRecordedAt({ files }: Pick<TableVersion, 'files'>): Date | undefined {
  let last = ''
  for (const file of files) {
    const recordedAt = String(statisticsOf(file).maxValues['recorded_at'])
    if (recordedAt > last) last = recordedAt
  }
  return last === '' ? undefined : new Date(last)
}
