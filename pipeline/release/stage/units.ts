// Files of a stage, each made from the lines that agree in some columns.
import { type Fields, type Format, type Input, linesIn } from './lines.ts'

/** Makes the file of a unit from its lines. */
interface Unit {
  take(fields: Fields): void | Promise<void>
  /** Returns the lines to print. */
  end(): Promise<string>
}

/**
 * Makes a unit from each run of lines that agree in the columns `by`; in the first column if none are given.
 * Begins it with the first line, and ends it after the last.
 */
export async function* unitsIn<Name extends string>(
  input: Input,
  format: Format<Name>,
  begin: (first: Fields) => Unit | Promise<Unit>,
  columns: readonly NoInfer<Name>[] = format.columns.slice(0, 1),
): AsyncIterable<string> {
  const places = columns.map((name) => format.at[name])
  let first: Fields | undefined
  let unit: Unit | undefined
  for await (const lines of linesIn(input, format)) {
    for (const fields of lines) {
      if (!unit || places.some((place) => fields[place] !== first![place])) {
        if (unit) yield await unit.end()
        first = fields
        unit = await begin(fields)
      }
      const taken = unit.take(fields)
      if (taken) await taken
    }
  }
  if (unit) yield await unit.end()
}
