// Inbox objects, which are encoded here and not by DuckDB, as pyarrow and polars read them.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { encodeRows } from '../../pipeline/tables/inbox.ts'
import { TABLE_NAMES, tableSpec } from '../../schemas/tables.ts'
import { testFolder } from '../support/folder.ts'
import { askPython, python } from '../support/python-reader.ts'
import { rowTexts, rowsDigest, sampleRows } from '../support/worlds/table-rows.ts'

test.skipIf(!python)(
  'others find in an inbox object the rows that were written, in every table',
  async () => {
    const folder = await testFolder()
    const files = TABLE_NAMES.flatMap((table) => [1, 500].map((count) => ({ table, count })))
    const requests = await Promise.all(
      files.map(async ({ table, count }) => {
        const path = join(folder, `${table}-${count}.parquet`)
        await writeFile(path, encodeRows(table, sampleRows(table, count)))
        return { path, columns: tableSpec(table).columns.map(({ name, type }) => ({ name, type })) }
      }),
    )
    const answers = await askPython<{ pyarrow: string; polars: string }[]>('read_files.py', requests)
    expect(answers).toEqual(
      files.map(({ table, count }) => {
        const digest = rowsDigest(rowTexts(table, sampleRows(table, count)))
        return { pyarrow: digest, polars: digest }
      }),
    )
  },
)
