// `fvs people erase`.
import { InvalidArgumentError } from 'commander'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { type ErasedForecasts, erasePerson } from '../../pipeline/people/erase.ts'
import { assertEnvironment } from '../../pipeline/release/state.ts'
import { printable } from '../../pipeline/printable.ts'
import type { Components } from '../components/components.ts'
import type { Report } from '../command-line/output.ts'
import { uuid } from '../../schemas/values.ts'
import { parseReason } from '../command-line/arguments.ts'
import { type StoreOptions, onStore, program, storeCommand } from '../command-line/program.ts'

interface EraseOptions extends StoreOptions {
  reason: string
  forecasts?: true
}

export function addPeople(): void {
  const people = program.command('people').description('Answer to a person who asks to be forgotten.')
  storeCommand('erase', 'Take the name of a person back, everywhere and at once.', people)
    .argument('<user-id>', 'the id of the person', (text: string) => {
      const id = uuid.safeParse(text)
      if (!id.success) throw new InvalidArgumentError('It must be a UUID.')
      return id.data
    })
    .requiredOption(
      '--reason <text>',
      'why, for the operator to remember; with --forecasts public for good, so it must name nobody',
      parseReason,
    )
    .option(
      '--forecasts',
      "also make the person's forecasts count for nothing from the next release on, for good; each release says so, by the id and with the reason",
    )
    .action((userId: string, options: EraseOptions) =>
      onStore(options, 'writes', (components) =>
        runErase(components, userId, options.reason, options.forecasts),
      ),
    )
}

/**
 * @param forecasts whether to erase the person's forecasts too.
 */
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
