// `fvs monitor`: looks once at the log of a service and at the records of some entities, and tells what has
// changed since the last look or contradicts it.
import { Option } from 'commander'
import { decoded } from '../../pipeline/proof/canonical.ts'
import type { SignedCheckpoint } from '../../pipeline/proof/checkpoint.ts'
import { noteText } from '../../pipeline/proof/note.ts'
import { printable, printableJson } from '../../pipeline/printable.ts'
import { continuationOf } from '../../pipeline/transparency/continuation.ts'
import { LogReader, type ShownRecord } from '../../pipeline/transparency/log-reader.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { correctionsSince } from './monitor-corrections.ts'
import { lookAtEntity, summaryOf } from './monitor-entity.ts'
import {
  type Evidence,
  type Inconsistency,
  type News,
  checked,
  isInconsistency,
  newsText,
} from './monitor-news.ts'
import { timesSince } from './monitor-times.ts'
import { type Report, print, reportError } from '../command-line/output.ts'
import { type KnownLog, parseState, readState, replaceState, stateText } from './state-file.ts'
import { type Receiver, tell } from './tell.ts'
import { LOG_KEYS, SERVICE_URL, parseEntities } from '../command-line/arguments.ts'
import type { WitnessOptions } from './witness.ts'
import { type GlobalOptions, JSON_OPTION, calledRightly, program } from '../command-line/program.ts'

type WatchOptions = MonitorOptions & Pick<WitnessOptions, 'vkey'> & Pick<GlobalOptions, 'json'>

const MONITOR_HELP = `
It ends with 0 if nothing is new, 1 if something is inconsistent or cannot be read, 3 if there is news,
and 4 if the service or the receiver could not be reached. After 1 and 4 the state is as before, so that
the next call tells the same again. FVS_API_KEY is a key for the calls, which count as verification calls.`

export function addMonitor(): void {
  program
    .command('monitor')
    .description('Look at records and at the public log, and tell what is new or does not fit together.')
    .argument(...SERVICE_URL)
    .requiredOption(...LOG_KEYS)
    .requiredOption('--state <file>', 'where the last look is kept; the first call makes it')
    .requiredOption('--entity <type:id>', 'agent:UUID or forecaster:UUID; may be repeated', parseEntities)
    .addOption(
      new Option(
        '--exec <command>',
        'a line of the shell that finds the news on its standard input, as JSON',
      ).conflicts('webhook'),
    )
    .option('--webhook <url>', 'an address that the news is posted to, as JSON')
    .option(...JSON_OPTION)
    .addHelpText('after', MONITOR_HELP)
    .action(async (url: string, options: WatchOptions) => {
      const apiKey = process.env['FVS_API_KEY']
      const headers = { 'Cache-Control': 'no-cache', ...(apiKey && { 'X-API-Key': apiKey }) }
      const watched = calledRightly(() => new LogReader(url, options.vkey, headers))
      try {
        const { exitCode, ...report } = await runMonitor(watched, options)
        print(report, options.json === true)
        process.exitCode = exitCode
      } catch (error) {
        if (!(error instanceof ServiceError) || error.kind !== 'unavailable') throw error
        reportError(error, options.json === true)
        process.exitCode = EXIT_UNREACHED
      }
    })
}

/** The exit codes that no other command has; 1 means that something is inconsistent. */
const EXIT_NEWS = 3
export const EXIT_UNREACHED = 4

export interface MonitorOptions extends Receiver {
  /** The file that keeps the last look. */
  state: string
  /** As `agent:UUID` or `forecaster:UUID`, each once. */
  entity: readonly string[]
}

export interface MonitorReport extends Report {
  exitCode: number
}

/**
 * Tells the receiver before it replaces the state, so that news is told at least once, also if a call is cut
 * off.
 *
 * @throws ServiceError `invalid` for a file that is no state of this log, and `unavailable` for a service
 *   that does not answer.
 */
export async function runMonitor(log: LogReader, options: MonitorOptions): Promise<MonitorReport> {
  const { state: file, entity } = options
  const before = await readState(file)
  const known = before && (await parseState(before, file, log.keys))
  const { state, news, timeLines } = await look(log, known, entity)
  const { origin, size } = (state ?? known)?.head.checkpoint ?? { origin: log.keys[0]!.name, size: 0 }
  const told = { service: log.url, origin, size, news }
  let failure: string | undefined
  try {
    if (news.length > 0) await tell(options, `${printableJson(told)}\n`)
    const text = state && stateText(state)
    if (text !== undefined && (!before || decoded(before) !== text)) await replaceState(file, text, before)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    failure = error.message
  }
  const ok = state !== undefined && failure === undefined
  const summaries = Object.entries(state?.entities ?? {}).map(
    ([name, shown]) => `  ${name} ${summaryOf(shown)}`,
  )
  const how = known ? '' : ', taken as they are at this first look'
  const lines = [
    ...(state ? [`${printable(origin)} has ${size} entries${how}`, ...summaries] : []),
    ...timeLines.map((line) => `  ${printable(line)}`),
    ...news.map(newsText),
  ]
  return {
    ok,
    exitCode: ok ? (news.length > 0 ? EXIT_NEWS : 0) : state ? EXIT_UNREACHED : 1,
    json: { ok, ...told, times: timeLines, failure: failure ?? null },
    text: lines.join('\n'),
    ...(failure !== undefined && { aside: `${failure}; the next call tells the same again` }),
  }
}

interface Look {
  state: KnownLog | undefined
  news: News[]
  /** How many forecasts were held to the log, and what was not checked. */
  timeLines: string[]
}

/** Returns no state if anything is inconsistent, so that each later call finds it again. */
async function look(log: LogReader, known: KnownLog | undefined, entities: readonly string[]): Promise<Look> {
  let news: News[] = []
  let timeLines: string[] = []
  let unreached: ServiceError | undefined
  /** An inconsistency outweighs an answer that does not come, so that the others are looked at too. */
  const attempt = async <T>(work: Promise<T | Inconsistency>): Promise<T | undefined> => {
    try {
      const found = await work
      if (!isInconsistency(found)) return found
      news.push(found)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      unreached ??= error
    }
    return undefined
  }
  let state: KnownLog | undefined
  const last = await attempt(lookAtLog(log, known))
  if (last) {
    let head: SignedCheckpoint = last
    const shown: Record<string, ShownRecord | null> = {}
    for (const entity of entities) {
      const least = known?.head.checkpoint.size ?? 0
      const seen = await attempt(lookAtEntity(log, head, entity, known?.entities?.[entity], least))
      if (!seen) continue
      head = seen.head
      shown[entity] = seen.shown
      news.push(...seen.changes)
    }
    const from = known?.correctionsTo ?? head.checkpoint.size
    const corrections = await attempt(correctionsSince(log, head, from, entities))
    const times = await attempt(timesSince(log, head, from, corrections?.to ?? from))
    // There may be more than a call has arguments.
    news = [...news, ...(corrections?.news ?? []), ...(times?.news ?? [])]
    timeLines = times?.timeLines ?? []
    state = { head, correctionsTo: corrections?.to ?? from, entities: shown }
  }
  if (news.some(isInconsistency)) return { state: undefined, news, timeLines }
  if (unreached) throw unreached
  return { state, news, timeLines }
}

/** @throws ServiceError `invalid` for a checkpoint of another log, or that no known key has signed. */
async function lookAtLog(
  log: LogReader,
  known: KnownLog | undefined,
): Promise<SignedCheckpoint | Inconsistency> {
  // A checkpoint that no known key has signed speaks against nobody: anyone can make one.
  const last = await log.lastCheckpoint()
  const kept: Evidence = known ? { checkpoint: noteText(known.head.note) } : {}
  return checked({ entity: null, kept, found: { checkpoint: noteText(last.note) } }, async () => {
    await continuationOf(known?.head.checkpoint, last.checkpoint, log.readTile)
    return last
  })
}
