// A proxy before the service that passes requests on and hangs up instead of answering some of them.
import { once } from 'node:events'
import { type IncomingHttpHeaders, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { Client } from './service.ts'

export interface Passed {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
  /** What the service has answered. */
  answer: string
}

export interface CuttingProxy {
  url: string
  /** What was passed on, in order. */
  passed: Passed[]
}

/**
 * Hangs up on the first `cuts` POST requests once the service has answered them. It runs until the test ends.
 */
export async function cuttingProxy(target: string, cuts: number): Promise<CuttingProxy> {
  const client = new Client(target)
  const passed: Passed[] = []
  let left = cuts
  const server = createServer((message, response) => {
    const pass = async () => {
      const body = Buffer.concat((await message.toArray()) as Buffer[]).toString()
      const { method = '', url: path = '' } = message
      const { host: _, connection: __, 'transfer-encoding': ___, ...headers } = message.headers
      const answer = await client.send(method, path, {
        headers: headers as Record<string, string>,
        ...(body === '' ? {} : { body }),
      })
      passed.push({ method, path, headers, body, answer: answer.text })
      if (method === 'POST' && left > 0) {
        left -= 1
        response.socket?.destroy()
      } else response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(answer.bytes)
    }
    void pass().catch(() => void response.socket?.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, passed }
}
