// Columns of plain numbers in memory, in which the sweep, the engines and DuckDB's driver exchange rows.

/** A 32-bit integer or a double, never null. */
export type ColumnKind = 'int32' | 'double'
/** The names and kinds of columns, in order. */
export type ColumnKinds = Readonly<Record<string, ColumnKind>>

type Column<Kind extends ColumnKind> = Kind extends 'int32' ? Int32Array : Float64Array
export type Columns<Kinds extends ColumnKinds> = { readonly [Name in keyof Kinds]: Column<Kinds[Name]> }

/** Rows 0..rowCount-1 of each column. */
export interface Block<Kinds extends ColumnKinds> {
  readonly rowCount: number
  readonly columns: Columns<Kinds>
}

/**
 * A receiver of rows. Write a row at the index `row` of each column and then call `next`, after which `row`
 * and `columns` may be different.
 */
export interface RowSink<Kinds extends ColumnKinds> {
  readonly columns: Columns<Kinds>
  readonly row: number
  next(): void
}

export function newColumns<Kinds extends ColumnKinds>(kinds: Kinds, capacity: number): Columns<Kinds> {
  const columns = Object.entries(kinds).map(([name, kind]) => [
    name,
    kind === 'int32' ? new Int32Array(capacity) : new Float64Array(capacity),
  ])
  return Object.fromEntries(columns) as Columns<Kinds>
}
