// `fvs mcp`: lets a language model take part, over the Model Context Protocol on standard input and output.
// Standard output carries nothing else.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
import { mcpServer } from '../../api/mcp/server.ts'
import { serviceCall } from './service-call.ts'
import { parseMcpSettings } from './settings.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { printable } from '../../pipeline/printable.ts'
import { stopSignal } from '../command-line/stop-signal.ts'
import { SERVICE_VERSION } from '../components/components.ts'
import { program } from '../command-line/program.ts'

export function addMcp(): void {
  program
    .command('mcp')
    .description(
      'Let a language model take part, by the Model Context Protocol on standard input and output.',
    )
    .addHelpText(
      'after',
      '\nFVS_URL is the address of the service, FVS_AGENT_ID and FVS_API_KEY the agent; without a key it only reads. By LOG_VKEY, the key of the log, it verifies.',
    )
    .action(async () => {
      await runMcp(process.env, SERVICE_VERSION)
    })
}

/**
 * Resolves when the input ends, the output breaks, or a signal comes.
 *
 * @throws ServiceError `invalid` for wrong settings, `unauthorized` or `forbidden` for a wrong key.
 */
export async function runMcp(variables: Record<string, string | undefined>, version: string): Promise<void> {
  const settings = parseMcpSettings(variables)
  const { FVS_URL: url, FVS_AGENT_ID: agentId, FVS_API_KEY: apiKey, LOG_VKEY: vkeys } = settings
  const call = serviceCall({ url, apiKey, vkeys, newId: () => randomUUID() })
  if (apiKey !== undefined) await assertKeyWorks(call, agentId!)
  const ended = Promise.race([
    once(process.stdin, 'end'),
    once(process.stdin, 'close'),
    once(process.stdout, 'error'),
    stopSignal(),
  ]).catch(() => undefined)
  const canSubmit = apiKey !== undefined
  const server = serveStdio(() => mcpServer({ call, agentId, canSubmit, version }), {
    onerror: ({ message }) => tell(message),
  })
  tell(`calls ${url} ${apiKey === undefined ? 'without an API key, so it only reads' : `as ${agentId}`}`)
  const names = vkeys.map(({ name, keyId }) => `${name}+${keyId}`).join(', ')
  tell(names === '' ? 'verifies nothing, because LOG_VKEY is not set' : `verifies by ${names}`)
  await ended
  await server.close()
}

/**
 * Finds out at the start that a key does not work, and not at the first forecast. A service that does not
 * answer may do so later.
 *
 * @throws ServiceError `unauthorized` or `forbidden`.
 */
async function assertKeyWorks(call: ReturnType<typeof serviceCall>, agentId: string): Promise<void> {
  const apiCall = {
    path: '/agents/{agent_id}/forecasts',
    params: { agent_id: agentId },
    query: { limit: 1 },
    isOwn: true,
    answer: z.looseObject({}),
  }
  try {
    await call(apiCall)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    if (error.kind === 'unauthorized' || error.kind === 'forbidden') throw error
    tell(`the key could not be tried: ${error.message}`)
  }
}

function tell(text: string): void {
  process.stderr.write(`fvs: ${printable(text)}\n`)
}
