// The command that takes back what is known of a person: `fvs people erase`.
import { InvalidArgumentError } from 'commander'
import { uuid } from '../schemas/values.ts'
import { reason } from './command-line/arguments.ts'
import { type StoreOptions, onStore, program, storeCommand } from './command-line/program.ts'

interface EraseOptions extends StoreOptions {
  reason: string
  forecasts?: true
}

export function addPeopleCommands(): void {
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
      reason,
    )
    .option(
      '--forecasts',
      "also make the person's forecasts count for nothing from the next release on, for good; each release says so, by the id and with the reason",
    )
    .action((userId: string, options: EraseOptions) =>
      onStore(options, 'writes', async (components) => {
        const { runErase } = await import('./operator/people.ts')
        return runErase(components, userId, options.reason, options.forecasts)
      }),
    )
}
