// `fvs` with every command, which the files of a process share: a command can be added once.
import { program } from '../../jobs/command-line/program.ts'
import { COMMANDS } from '../../jobs/commands.ts'

for (const add of Object.values(COMMANDS)) await add()

export { program }
