// The list of commands: each line leads to the command of its name, and the documents name every command.
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { COMMANDS } from '../../jobs/commands.ts'
import { program } from '../support/commands.ts'
import { textOf } from '../support/fenced-blocks.ts'

/** The commands that do something, as one calls them. */
function called({ commands }: Command, parent = 'fvs'): string[] {
  return commands.flatMap((command) => {
    const name = `${parent} ${command.name()}`
    return command.commands.length === 0 ? [name] : called(command, name)
  })
}

test('each name of the list adds the command of that name, and says what it does', () => {
  expect(program.commands.map((command) => command.name())).toEqual(Object.keys(COMMANDS))
  for (const command of program.commands) expect(command.description()).toMatch(/^[A-Z].*\.$/)
})

test('docs/run.md names every command and each of its subcommands', () => {
  const section = /## Commands\n[^]*?\nAll of them:/.exec(textOf('docs/run.md'))![0]
  const lines = section.split('\n- ')
  const missing = called(program).filter((words) => {
    const [, name, subcommand] = words.split(' ')
    const own = lines.filter((line) => line.includes(`\`fvs ${name}`)).join('\n')
    return own === '' || (subcommand !== undefined && !new RegExp(`\\b${subcommand}|…`).test(own))
  })
  expect(missing).toEqual([])
})
