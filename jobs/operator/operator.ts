// `fvs operator log`.
import { type OperatorCall, loggedCalls } from '../../pipeline/access/operator-log.ts'
import type { Components } from '../components/components.ts'
import { printable } from '../../pipeline/printable.ts'
import type { Report } from '../command-line/output.ts'
import { parseTime } from '../command-line/arguments.ts'
import { type StoreOptions, onStore, program, storeCommand } from '../command-line/program.ts'

export function addOperator(): void {
  const operator = program.command('operator').description("See what was done by the operator's calls.")
  storeCommand('log', 'List the calls of operators: who, when, and what changed.', operator)
    .option('--since <time>', 'only calls from this instant on', parseTime)
    .action((options: StoreOptions & { since?: Date }) =>
      onStore(options, 'reads', (components) => reportOperatorLog(components, options.since)),
    )
}

export async function reportOperatorLog({ store }: Components, since: Date | undefined): Promise<Report> {
  const calls = await loggedCalls(store, since)
  const text = calls.length === 0 ? 'no call of an operator' : calls.map(callLine).join('\n')
  return { ok: true, json: { calls }, text }
}

function callLine({ at, key_id, owner, call, asked: values, reason, state, result }: OperatorCall): string {
  const why = reason === null ? '' : `; ${reason}`
  const parameters = Object.entries(values).map(([name, value]) => `${name} ${valueText(value)}`)
  return printable(
    `${at}  ${state}  ${key_id} of ${owner}  ${call}  ${parameters.join(', ')}${resultOf(state, result)}${why}`,
  )
}

function resultOf(state: OperatorCall['state'], result: OperatorCall['result']): string {
  if (state === 'begun') return ': it was cut off, and may have taken effect'
  const { detail, added, changed, unchanged, import_id: id } = result ?? {}
  if (typeof detail === 'string') return `: ${detail}`
  if (added === undefined) return changed === true ? ': changed' : ': so already'
  const made = typeof id === 'string' ? ` (${id})` : ''
  return `: ${valueText(added)} added, ${valueText(changed)} changed, ${valueText(unchanged)} known already${made}`
}

const valueText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
