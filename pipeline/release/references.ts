// Makes the files of a release with the reference forecasts: one of JSON, for boards, and one of Parquet.
import {
  REFERENCES,
  REFERENCES_COMMENTS,
  REFERENCE_FILE_COLUMNS,
  type ReferenceRow,
} from '../../schemas/references.ts'
import { canonical } from '../proof/canonical.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { type ReferenceQuestions, scoreReferences } from '../scoring/references.ts'
import { REFERENCES_PARQUET_PATH, REFERENCES_PATH } from '../store/paths.ts'
import { type Provenance, publishedForm } from './payloads.ts'
import { ParquetRows } from './rows-parquet.ts'
import type { OutputFile } from './shards.ts'

/** Name the pools and categories by their numbers. */
export interface ReferenceNames {
  pool: (number: number) => string
  category: (number: number) => string
}

/** Scores the references. */
export function referenceRows(
  methodology: Methodology,
  questions: ReferenceQuestions,
  names: ReferenceNames,
): ReferenceRow[] {
  return Array.from(scoreReferences(methodology, questions), ({ pool, category, ...scores }) => ({
    ...publishedForm(scores),
    pool: names.pool(pool),
    category: category === null ? null : names.category(category),
  })).sort(inOrder)
}

/** Yields the two files of the references. */
export function* referenceFiles(rows: readonly ReferenceRow[], provenance: Provenance): Iterable<OutputFile> {
  const parquet = new ParquetRows(REFERENCE_FILE_COLUMNS, REFERENCES_COMMENTS)
  const of = { release: provenance.release, as_of: new Date(provenance.as_of) }
  for (const row of rows) parquet.add(valuesOf({ ...of, ...row }))
  const bytes = canonical({ ...provenance, references: rows })
  yield { path: REFERENCES_PATH, rows: rows.length, bytes }
  yield { path: REFERENCES_PARQUET_PATH, rows: rows.length, bytes: parquet.finish() }
}

/** By kind, then by pool, then by category, all questions first, then as `REFERENCES` has them. */
function inOrder(a: ReferenceRow, b: ReferenceRow): number {
  if (a.entity_type !== b.entity_type) return a.entity_type < b.entity_type ? -1 : 1
  if (a.pool !== b.pool) return a.pool < b.pool ? -1 : 1
  if (a.category !== b.category) {
    if (a.category === null || b.category === null) return a.category === null ? -1 : 1
    return a.category < b.category ? -1 : 1
  }
  return REFERENCES.indexOf(a.reference) - REFERENCES.indexOf(b.reference)
}

function valuesOf({ board_interval, ...row }: ReferenceRow & { release: number; as_of: Date }): unknown[] {
  const values = {
    ...row,
    board_lower: board_interval?.lower ?? null,
    board_upper: board_interval?.upper ?? null,
  }
  return REFERENCE_FILE_COLUMNS.map(({ name }) => values[name])
}
