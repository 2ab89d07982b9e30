// A recorded exchange between a client and the service, which a server on loopback gives again.
import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A request, with those of its headers that the service reads. */
export interface Asked {
  method: string
  path: string
  headers: Record<string, string>
  body: unknown
}

/** Null where the connection is cut. */
export type Given = { status: number; headers: Record<string, string>; body: string } | null

export interface Exchange {
  asked: Asked
  given: Given
}

const READ_HEADERS = ['authorization', 'content-type', 'idempotency-key']
const SENT_HEADERS = ['content-type', 'retry-after', 'x-service-receipt', 'location']

export function headersIn(headers: Record<string, unknown>, names = SENT_HEADERS): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
  )
}

async function askedIn(message: IncomingMessage): Promise<Asked> {
  const text = Buffer.concat((await message.toArray()) as Buffer[]).toString()
  const { method = '', url: path = '' } = message
  return {
    method,
    path,
    headers: headersIn(message.headers, READ_HEADERS),
    body: text === '' ? null : JSON.parse(text),
  }
}

function give(response: ServerResponse, given: Given): void {
  if (given) response.writeHead(given.status, given.headers).end(given.body)
  else response.socket?.destroy()
}

/** Answers each request by `answer`. It runs until the test ends. */
export async function exchangeServer(
  answer: (asked: Asked, number: number) => Given | Promise<Given>,
): Promise<{ url: string; exchanges: Exchange[] }> {
  const exchanges: Exchange[] = []
  const server = createServer((message, response) => {
    const exchange = async () => {
      const asked = await askedIn(message)
      const given = await answer(asked, exchanges.length)
      exchanges.push({ asked, given })
      give(response, given)
    }
    void exchange().catch(() => void response.socket?.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, exchanges }
}
