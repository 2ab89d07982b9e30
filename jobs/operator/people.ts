// `fvs people erase`.
import { withDatabase } from '../../pipeline/duckdb.ts'
import { type ErasedForecasts, erasePerson } from '../../pipeline/people/erase.ts'
import { assertEnvironment } from '../../pipeline/release/state.ts'
import { printable } from '../../pipeline/printable.ts'
import type { Components } from '../components/components.ts'
import type { Report } from '../command-line/output.ts'

/** @param forecasts whether the person's forecasts are erased too. */
export async function runErase(
  components: Components,
  userId: string,
  reason: string,
  forecasts = false,
): Promise<Report> {
  const { number, begun } = await assertEnvironment(components)
  const {
    erasure,
    wasNamed,
    forecasts: erased,
  } = await withDatabase(components.openDatabase, (database) =>
    erasePerson({ ...components, database }, { userId, reason, forecasts }),
  )
  const next = number + (begun ? 2 : 1)
  return {
    ok: true,
    json: {
      user_id: userId,
      ...erasure,
      was_named: wasNamed,
      ...(erased && { forecasts: { ...erased.person, was_erased: erased.wasErased, from_release: next } }),
    },
    text: [
      wasNamed
        ? `the name of ${userId} is taken back: every node forgets it at its next look, within seconds`
        : `${userId} has no name; none is taken from an import from now on`,
      ...(erased ? forecastLines(erased, number, next) : []),
    ].join('\n'),
  }
}

function forecastLines({ person, wasErased }: ErasedForecasts, last: number, next: number): string[] {
  const { user_id, erased_at, reason } = person
  if (wasErased)
    return [`the forecasts of ${user_id} were erased already, at ${erased_at}: ${printable(reason)}`]
  return [
    `the forecasts of ${user_id} count for nothing from release ${next} on, which says so for everyone to read, with the reason: ${printable(reason)}`,
    ...(last === 0
      ? []
      : [
          `releases up to ${next - 1} are signed and keep the scores of ${user_id}; \`fvs retention\` deletes the files of old ones`,
        ]),
  ]
}
