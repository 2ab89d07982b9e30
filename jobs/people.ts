// `fvs people erase`.
import { withDatabase } from '../pipeline/duckdb.ts'
import { assertNamesNobody, eraseForecasts } from '../pipeline/people/erase-forecasts.ts'
import { eraseName } from '../pipeline/people/erase.ts'
import { lastWhere } from '../pipeline/release/last-where.ts'
import { readManifest } from '../pipeline/release/read.ts'
import { assertEnvironment } from '../pipeline/release/state.ts'
import { printable } from '../pipeline/printable.ts'
import type { Components } from './components/components.ts'
import type { Report } from './output.ts'

/** Releases by earlier versions of the service name people. */
const FIRST_WITHOUT_NAMES = 3

/** @param forecasts whether the person's forecasts are erased too. */
export async function runErase(
  components: Components,
  userId: string,
  reason: string,
  forecasts = false,
): Promise<Report> {
  const { number, begun } = await assertEnvironment(components)
  if (forecasts) await assertNamesNobody(components, userId, reason)
  const { erasure, wasNamed, dataFiles } = await withDatabase(components.openDatabase, (database) =>
    eraseName({ ...components, database }, userId, reason),
  )
  const lastNaming = await lastWithNames(components, number)
  const erased = forecasts ? await eraseForecasts(components, userId, reason) : undefined
  const next = number + (begun ? 2 : 1)
  return {
    ok: true,
    json: {
      user_id: userId,
      ...erasure,
      was_named: wasNamed,
      last_release_with_names: lastNaming,
      data_files: dataFiles,
      ...(erased && { forecasts: { ...erased.person, was_erased: erased.wasErased, from_release: next } }),
    },
    text: [
      wasNamed
        ? `the name of ${userId} is taken back: every node forgets it at its next look, within seconds`
        : `${userId} has no name; none is taken from an import from now on`,
      ...(lastNaming === 0
        ? []
        : [
            `releases 1 to ${lastNaming} are by earlier versions of the service and may hold the name: they are signed and cannot be changed; \`fvs retention\` deletes their files`,
          ]),
      ...dataFiles.map(
        (path) =>
          `${path} is by an earlier version of the service and holds the name; nothing reads it there`,
      ),
      ...(erased ? forecastLines(erased, number, next) : []),
    ].join('\n'),
  }
}

function forecastLines(
  { person, wasErased }: Awaited<ReturnType<typeof eraseForecasts>>,
  last: number,
  next: number,
): string[] {
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

/** Returns the number of the last release that may name people; 0 if there is none. */
function lastWithNames({ store }: Pick<Components, 'store'>, last: number): Promise<number> {
  // A store never goes back to an earlier version of the service.
  return lastWhere(last, async (release) => {
    const engine = (await readManifest(store, release))?.engines.service ?? ''
    return Number.parseInt(engine, 10) < FIRST_WITHOUT_NAMES
  })
}
