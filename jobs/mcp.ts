// `fvs mcp`: lets a language model take part, over the Model Context Protocol on standard input and output.
// Standard output carries nothing else.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { TIMEOUT_MS } from '../pipeline/bounded-fetch.ts'
import { ServiceClient } from './mcp/service-client.ts'
import { parseMcpSettings } from './mcp/settings.ts'
import { mcpServer } from './mcp/tools.ts'
import { printable } from './output.ts'
import { stopSignal } from './serve/stop-signal.ts'

/**
 * Resolves when the input ends, the output breaks, or a signal comes.
 *
 * @throws ServiceError `invalid` for wrong settings.
 */
export async function runMcp(variables: Record<string, string | undefined>, version: string): Promise<void> {
  const { FVS_URL: url, FVS_AGENT_ID: agentId, FVS_API_KEY: apiKey } = parseMcpSettings(variables)
  const service = new ServiceClient({ url, apiKey, timeoutMs: TIMEOUT_MS, newId: () => randomUUID() })
  const ended = Promise.race([
    once(process.stdin, 'end'),
    once(process.stdin, 'close'),
    once(process.stdout, 'error'),
    stopSignal(),
  ]).catch(() => undefined)
  const server = serveStdio(() => mcpServer({ service, agentId, version }), {
    onerror: ({ message }) => tell(message),
  })
  tell(`calls ${url} ${apiKey === undefined ? 'without an API key, so it only reads' : `as ${agentId}`}`)
  await ended
  await server.close()
}

function tell(text: string): void {
  process.stderr.write(`fvs: ${printable(text)}\n`)
}
